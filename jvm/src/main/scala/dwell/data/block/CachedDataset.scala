package dwell.data.block

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD

import dwell.bulk.Kept

/**
 * Training data in the form that a local solver works on, cached on the workers.
 *
 * If cached data is lost and the source no longer gives the same rows, reading `partitions` fails with an
 * [[dwell.base.InputChangedException]].
 *
 * @param kept
 *   one element in each Spark partition, in order of their index; kept and materialised
 * @param nonzerosPerPartition
 *   number of nonzeros of each partition
 * @param bytes
 *   size of all partitions in bytes
 */
abstract class CachedDataset[P] private[data] (
    kept: Kept[P],
    val nonzerosPerPartition: Array[Long],
    val bytes: Long,
    broadcasts: Seq[Broadcast[_]]) {

  private var released = false

  /** One element in each Spark partition, in order of their index. */
  def partitions: RDD[P] = kept

  /** The number of partitions, K. */
  def numPartitions: Int = nonzerosPerPartition.length

  /** The number of nonzeros of all partitions. */
  def nonzeros: Long = nonzerosPerPartition.sum

  /** Releases the cached partitions and their broadcasts. The dataset is unusable afterwards. */
  def unpersist(): Unit = synchronized {
    if (!released) {
      released = true
      Cached.release(kept, broadcasts)
    }
  }

  private[data] def isReleased: Boolean = synchronized(released)
}
