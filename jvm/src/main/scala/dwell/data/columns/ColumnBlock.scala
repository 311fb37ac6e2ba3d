package dwell.data.columns

import dwell.base.SliceBounds
import dwell.bulk.{Bulk, BulkFormat, BulkInput, BulkOutput}
import dwell.data.block.RowBlock
import dwell.data.matrix.MatrixBlock

/**
 * The rows of one block, for one partition of columns.
 *
 * @param firstRow
 *   number of the first row in the whole dataset
 * @param matrix
 *   the rows; columns have their own numbers in what a [[Projection]] made
 * @param labels
 *   labels of the rows that are in the partition's slice, see [[dwell.base.SliceBounds]]
 * @param weights
 *   weight of each row, or null if every one is 1
 */
private[data] final class ColumnBlock(
    val firstRow: Int,
    val matrix: MatrixBlock,
    val labels: Array[Double],
    val weights: Array[Double])
    extends Bulk[ColumnBlock] {
  override protected def format: BulkFormat[ColumnBlock] = ColumnBlock
}

private[data] object ColumnBlock extends BulkFormat[ColumnBlock] {

  /** What partition `k` needs of `block`, whose first row is `firstRow`. */
  def of(block: RowBlock, firstRow: Int, matrix: MatrixBlock, slices: SliceBounds, k: Int): ColumnBlock = {
    def inBlock(row: Int) = math.max(0, math.min(block.rows, row - firstRow))
    val labels = java.util.Arrays.copyOfRange(block.labels, inBlock(slices.start(k)), inBlock(slices.start(k + 1)))
    new ColumnBlock(firstRow, matrix, labels, block.weights)
  }

  override def write(block: ColumnBlock, out: BulkOutput): Unit = {
    out.int(block.firstRow)
    MatrixBlock.write(block.matrix, out)
    out.array(block.labels)
    out.array(block.weights)
  }

  override def read(in: BulkInput): ColumnBlock =
    new ColumnBlock(in.int(), MatrixBlock.read(in), in.doubleArray(), in.doubleArray())
}
