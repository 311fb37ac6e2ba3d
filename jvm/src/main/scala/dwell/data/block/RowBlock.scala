package dwell.data.block

import dwell.bulk.{Bulk, BulkFormat, BulkInput, BulkOutput}
import dwell.data.matrix.{BlockPlace, DenseBlock, MatrixBlock, ReadBlock, SparseBlock}
import dwell.data.merge.{PickedFormat, PickedRows}

/**
 * Rows of one source partition, without those of weight 0.
 *
 * @param matrix
 *   features of each row kept
 * @param labels
 *   label of each row kept
 * @param weights
 *   weight of each row kept, or null if every weight is 1
 * @param fold
 *   number of the fold that the rows belong to, see [[dwell.data.folds.Folds]]
 * @param fingerprint
 *   of the block as it was read, or of the blocks that its rows were picked from
 */
private[data] final class RowBlock private (
    val matrix: MatrixBlock,
    val labels: Array[Double],
    val weights: Array[Double],
    val fold: Int,
    override val fingerprint: Long)
    extends Bulk[RowBlock]
    with ReadBlock {
  override protected def format: BulkFormat[RowBlock] = RowBlock

  override def at: BlockPlace = matrix.at
  override def rowsRead: Int = matrix.rowsRead
  override def rows: Int = matrix.rows
  override def bytes: Long = matrix.bytes + 8L * labels.length + (if (weights == null) 0L else 8L * weights.length)
  override def problem: String = matrix.problem

  /** The same rows with the numbers of the features that occur. */
  def narrowed(occurring: OccurringFeatures): RowBlock = matrix match {
    case sparse: SparseBlock => of(sparse.renumbered(occurring.position))
    case _: DenseBlock => throw new IllegalStateException("every feature of a dense block occurs")
  }

  /** The same rows, before which their source partition has kept so many. */
  def after(rows: Long): RowBlock = of(matrix.placed(at.copy(rows = rows)))

  private def of(matrix: MatrixBlock): RowBlock = new RowBlock(matrix, labels, weights, fold, fingerprint)
}

private[data] object RowBlock extends PickedFormat[RowBlock] {

  /** The block of rows that were read. */
  def of(matrix: MatrixBlock, labels: Array[Double], weights: Array[Double], fold: Int = 0): RowBlock =
    new RowBlock(matrix, labels, weights, fold, MatrixBlock.hash(MatrixBlock.hash(matrix.fingerprint, labels), weights))

  override def matrix(block: RowBlock): MatrixBlock = block.matrix

  override def picked(from: Array[RowBlock], rows: PickedRows): RowBlock =
    new RowBlock(
      rows.matrix(from.map(_.matrix)),
      rows.numbers(from.map(_.labels)),
      rows.numbers(from.map(_.weights)),
      fold = 0,
      from.foldLeft(0L)((hash, block) => MatrixBlock.hash(hash, block.fingerprint)))

  override def write(block: RowBlock, out: BulkOutput): Unit = {
    MatrixBlock.write(block.matrix, out)
    out.array(block.labels)
    out.array(block.weights)
    out.int(block.fold)
    out.long(block.fingerprint)
  }

  override def read(in: BulkInput): RowBlock =
    new RowBlock(MatrixBlock.read(in), in.doubleArray(), in.doubleArray(), in.int(), in.long())
}
