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
 * @param fingerprint
 *   of the block as it was read, or of the blocks that its rows were picked from
 */
private[data] final class RowBlock private (
    val matrix: MatrixBlock,
    val labels: Array[Double],
    val weights: Array[Double],
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
    case sparse: SparseBlock => new RowBlock(sparse.renumbered(occurring.position), labels, weights, fingerprint)
    case _: DenseBlock => throw new IllegalStateException("every feature of a dense block occurs")
  }
}

private[data] object RowBlock extends PickedFormat[RowBlock] {

  /** The block of rows that were read. */
  def of(matrix: MatrixBlock, labels: Array[Double], weights: Array[Double]): RowBlock =
    new RowBlock(matrix, labels, weights, MatrixBlock.hash(MatrixBlock.hash(matrix.fingerprint, labels), weights))

  override def matrix(block: RowBlock): MatrixBlock = block.matrix

  override def picked(from: Array[RowBlock], rows: PickedRows): RowBlock =
    new RowBlock(
      rows.matrix(from.map(_.matrix)),
      rows.numbers(from.map(_.labels)),
      rows.numbers(from.map(_.weights)),
      from.foldLeft(0L)((hash, block) => MatrixBlock.hash(hash, block.fingerprint)))

  override def write(block: RowBlock, out: BulkOutput): Unit = {
    MatrixBlock.write(block.matrix, out)
    out.array(block.labels)
    out.array(block.weights)
    out.long(block.fingerprint)
  }

  override def read(in: BulkInput): RowBlock =
    new RowBlock(MatrixBlock.read(in), in.doubleArray(), in.doubleArray(), in.long())
}
