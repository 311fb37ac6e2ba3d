package dwell.data.columns

import dwell.base.SliceBounds
import dwell.bulk.{Bulk, BulkFormat, BulkInput, BulkOutput}
import dwell.data.block.RowBlock

/**
 * Labels and weights of the rows of one block, for one partition of columns: the labels of its slice, and all weights.
 *
 * @param firstLabel
 *   number of the row that the first label belongs to, in the whole dataset
 * @param labels
 *   labels of consecutive rows; none if the block has no row of the slice
 * @param firstRow
 *   number of the block's first row, in the whole dataset
 * @param weights
 *   weight of each row of the block, or null if every one is 1
 */
private[data] final class RowValues(
    val firstLabel: Int,
    val labels: Array[Double],
    val firstRow: Int,
    val weights: Array[Double])
    extends Bulk[RowValues] {
  override protected def format: BulkFormat[RowValues] = RowValues

  /** Whether the partition needs nothing of this. */
  def isEmpty: Boolean = labels.length == 0 && weights == null
}

private[data] object RowValues extends BulkFormat[RowValues] {

  override def write(values: RowValues, out: BulkOutput): Unit = {
    out.int(values.firstLabel)
    out.array(values.labels)
    out.int(values.firstRow)
    out.array(values.weights)
  }

  override def read(in: BulkInput): RowValues = new RowValues(in.int(), in.doubleArray(), in.int(), in.doubleArray())

  /** What `block`, whose first row is `firstRow`, has for partition `k`. */
  def of(block: RowBlock, firstRow: Int, slices: SliceBounds, k: Int): RowValues = {
    val end = firstRow + block.labels.length
    val from = math.min(math.max(slices.start(k), firstRow), end)
    val until = math.max(math.min(slices.start(k + 1), end), from)
    new RowValues(
      from,
      java.util.Arrays.copyOfRange(block.labels, from - firstRow, until - firstRow),
      firstRow,
      block.weights)
  }

  /** The labels of slice `k`, from the pieces of all blocks that have any. */
  def labels(pieces: Array[RowValues], slices: SliceBounds, k: Int): Array[Double] = {
    val labels = new Array[Double](slices.size(k))
    pieces.foreach { p =>
      if (p.labels.nonEmpty) System.arraycopy(p.labels, 0, labels, p.firstLabel - slices.start(k), p.labels.length)
    }
    labels
  }

  /** The weights of all rows, from the pieces of all blocks that have any other than 1; null if there are none. */
  def weights(pieces: Array[RowValues], numRows: Int): Array[Double] =
    if (pieces.forall(_.weights == null)) null
    else {
      val weights = Array.fill(numRows)(1.0)
      pieces.foreach { p =>
        if (p.weights != null) System.arraycopy(p.weights, 0, weights, p.firstRow, p.weights.length)
      }
      weights
    }
}
