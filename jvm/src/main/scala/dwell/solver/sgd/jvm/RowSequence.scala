package dwell.solver.sgd.jvm

import dwell.base.BucketOrder

/** The rows of a partition in the order of buckets, epoch after epoch. */
private[sgd] final class RowSequence(order: BucketOrder, start: Long) {
  private var row, end = 0
  private var buckets = start

  /** Buckets begun since the start of the fit. */
  def cursor: Long = buckets

  /** Whether the next row is in the bucket of the last one. */
  def insideBucket: Boolean = row < end

  /** The next row. */
  def next(): Int = {
    if (!insideBucket) {
      row = order.start(buckets)
      end = order.end(row)
      buckets += 1
    }
    row += 1
    row - 1
  }
}
