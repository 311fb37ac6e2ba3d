package dwell.data.cache

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD

import dwell.bulk.Kept
import dwell.record.HeldBytes

/**
 * Training data in the form that a local solver works on, cached on the workers.
 *
 * If cached data is lost and the source no longer gives the same rows, reading `partitions` fails with an
 * [[dwell.spark.InputChangedException]].
 *
 * @param kept
 *   one element in each Spark partition, in order of their index; kept and materialised
 * @param isShuffled
 *   whether the partitions were made by a shuffle
 * @param nonzerosPerPartition
 *   number of nonzeros of each partition
 * @param held
 *   size of all partitions, and the most bytes that were held while they were made
 */
abstract class CachedDataset[P] private[data] (
    kept: Kept[P],
    isShuffled: Boolean,
    val nonzerosPerPartition: Array[Long],
    val held: HeldBytes,
    broadcasts: Seq[Broadcast[_]]) {

  private var released = false

  /** One element in each Spark partition, in order of their index. */
  def partitions: RDD[P] = kept

  /**
   * The same for a barrier stage, see [[dwell.bulk.Kept.held]]. What was not shuffled has the user's RDDs before it, which
   * may have any number of partitions.
   *
   * @throws SparkException
   *   if partitions were lost and cannot be computed again
   */
  def forBarrier: RDD[P] = if (isShuffled) kept else kept.held

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
