package dwell.data.merge

import dwell.base.SplitMix

/**
 * The distribution of rows over partitions. Each partition gets one of any K consecutive rows that start at a multiple of
 * K. Sizes of partitions therefore differ by at most one row, and each gets its share of every stretch of rows, for
 * example of a class if labels are sorted. A hash decides which of the K rows it gets, so that a partition does not
 * repeat a pattern of the rows.
 */
private[data] object RowDistribution {

  /** The partition of row `row`. */
  def partitionOf(row: Long, numPartitions: Int): Int =
    ((row % numPartitions + turn(row / numPartitions, numPartitions)) % numPartitions).toInt

  /** The number of rows of partition `k` if there are `numRows` rows in all. */
  def size(k: Int, numPartitions: Int, numRows: Long): Long = {
    val whole = numRows / numPartitions
    if (rowOf(whole, k, numPartitions) < numRows) whole + 1 else whole
  }

  /** Calls `use` with each row of partition `k` from `from` until `until`, ascending, and its position in the partition. */
  def eachRow(k: Int, numPartitions: Int, from: Long, until: Long)(use: (Long, Int) => Unit): Unit = {
    var group = from / numPartitions
    val end = (until + numPartitions - 1) / numPartitions
    while (group < end) {
      val row = rowOf(group, k, numPartitions)
      if (row >= from && row < until) use(row, group.toInt)
      group += 1
    }
  }

  /** The row of partition `k` among the K rows from `group` K on. */
  private def rowOf(group: Long, k: Int, numPartitions: Int): Long =
    group * numPartitions + (k - turn(group, numPartitions) + numPartitions) % numPartitions

  private def turn(group: Long, numPartitions: Int): Long =
    ((SplitMix.mix(group + 1L) >>> 32) * numPartitions) >>> 32
}
