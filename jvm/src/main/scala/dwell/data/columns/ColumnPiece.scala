package dwell.data.columns

import dwell.bulk.{Bulk, BulkFormat, BulkInput, BulkOutput}
import dwell.data.matrix.NarrowValues

/**
 * The values in consecutive rows of a block that go to one partition of columns.
 *
 * @param columns
 *   feature indices, ascending: the columns that have nonzeros here
 * @param values
 *   stored values, column after column
 */
private[data] sealed abstract class ColumnPiece(val columns: Array[Int], val values: NarrowValues)
    extends Bulk[ColumnPiece] {
  override protected def format: BulkFormat[ColumnPiece] = ColumnPiece
}

/**
 * @param counts
 *   number of nonzeros of each column
 * @param rows
 *   row number of each nonzero in the whole dataset, ascending within a column
 */
private[data] final class SparseColumnPiece(
    columns: Array[Int],
    val counts: Array[Int],
    val rows: Array[Int],
    values: NarrowValues)
    extends ColumnPiece(columns, values)

/**
 * @param firstRow
 *   number of the first row in the whole dataset
 * @param rows
 *   number of rows; every column has a value for each
 */
private[data] final class DenseColumnPiece(columns: Array[Int], val firstRow: Int, val rows: Int, values: NarrowValues)
    extends ColumnPiece(columns, values)

private[data] object ColumnPiece extends BulkFormat[ColumnPiece] {
  private val Sparse = 0
  private val Dense = 1

  override def write(piece: ColumnPiece, out: BulkOutput): Unit = {
    piece match {
      case sparse: SparseColumnPiece =>
        out.int(Sparse)
        out.array(sparse.counts)
        out.array(sparse.rows)
      case dense: DenseColumnPiece =>
        out.int(Dense)
        out.int(dense.firstRow)
        out.int(dense.rows)
    }
    out.array(piece.columns)
    NarrowValues.write(piece.values, out)
  }

  override def read(in: BulkInput): ColumnPiece = in.int() match {
    case Sparse =>
      val (counts, rows) = (in.intArray(), in.intArray())
      new SparseColumnPiece(in.intArray(), counts, rows, NarrowValues.read(in))
    case Dense =>
      val (firstRow, rows) = (in.int(), in.int())
      new DenseColumnPiece(in.intArray(), firstRow, rows, NarrowValues.read(in))
  }
}
