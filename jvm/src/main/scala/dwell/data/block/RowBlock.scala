package dwell.data.block

import dwell.bulk.{Bulk, BulkFormat, BulkInput, BulkOutput}
import dwell.data.matrix.{BlockPlace, MatrixBlock, ReadBlock}

/**
 * Rows of one source partition, without those of weight 0.
 *
 * @param matrix
 *   features of each row kept
 * @param labels
 *   label of each row kept
 * @param weights
 *   weight of each row kept, or null if every weight is 1
 */
private[data] final class RowBlock(val matrix: MatrixBlock, val labels: Array[Double], val weights: Array[Double])
    extends Bulk[RowBlock]
    with ReadBlock {
  override protected def format: BulkFormat[RowBlock] = RowBlock

  override def at: BlockPlace = matrix.at
  override def rowsRead: Int = matrix.rowsRead
  override def rows: Int = matrix.rows
  override def bytes: Long = matrix.bytes + 8L * labels.length + (if (weights == null) 0L else 8L * weights.length)
  override def problem: String = matrix.problem

  override val fingerprint: Long = MatrixBlock.hash(MatrixBlock.hash(matrix.fingerprint, labels), weights)
}

private object RowBlock extends BulkFormat[RowBlock] {
  override def write(block: RowBlock, out: BulkOutput): Unit = {
    MatrixBlock.write(block.matrix, out)
    out.array(block.labels)
    out.array(block.weights)
  }

  override def read(in: BulkInput): RowBlock = new RowBlock(MatrixBlock.read(in), in.doubleArray(), in.doubleArray())
}
