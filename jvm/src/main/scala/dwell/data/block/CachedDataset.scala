package dwell.data.block

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD

/**
 * Training data in a form that a local solver works on, cached on the workers.
 *
 * Reading `partitions` again may fail with an [[dwell.base.InputChangedException]] when cached data was lost and the source no
 * longer gives the same rows.
 *
 * @param partitions
 *   one element per Spark partition, in order of their index; persisted and materialised
 * @param nonzerosPerPartition
 *   nonzeros of each partition
 * @param bytes
 *   bytes of all partitions
 */
abstract class CachedDataset[P] private[data] (
    val partitions: RDD[P],
    val nonzerosPerPartition: Array[Long],
    val bytes: Long,
    broadcasts: Seq[Broadcast[_]]) {

  private var released = false

  /** Number of partitions, K. */
  def numPartitions: Int = nonzerosPerPartition.length

  /** Nonzeros of all partitions. */
  def nonzeros: Long = nonzerosPerPartition.sum

  /** Releases what is cached and what was broadcast for it. The data cannot be used afterwards. */
  def unpersist(): Unit = synchronized {
    if (!released) {
      released = true
      Cached.release(partitions, broadcasts)
    }
  }

  private[data] def isReleased: Boolean = synchronized(released)
}
