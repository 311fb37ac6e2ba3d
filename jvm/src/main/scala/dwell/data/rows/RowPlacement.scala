package dwell.data.rows

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD

/** Decides which rows make up each partition, and brings them together. */
private[data] trait RowPlacement {

  /** The number of partitions, K. */
  def numPartitions: Int

  /** Whether the rows travel by a shuffle. */
  def isShuffle: Boolean

  /** What tasks need to compute the partitions. The owner of the partitions destroys it. */
  def broadcasts: Seq[Broadcast[_]] = Seq.empty

  /**
   * The partitions, one in each of Spark's; not cached.
   *
   * @param merge
   *   puts the rows of a partition together
   * @param scale
   *   scale of each feature, or null if every one is 1
   * @param mean
   *   mean of each feature, or null without an intercept
   */
  def partitions(merge: RowMerge, scale: Broadcast[Array[Double]], mean: Broadcast[Array[Double]]): RDD[RowPartition]
}
