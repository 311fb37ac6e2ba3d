package dwell.data

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD

/**
 * Training data in the form that the solvers work on: columns split into partitions of equal nonzeros, and labels and
 * weights of all rows on the driver.
 *
 * Reading `partitions` again may fail with an [[InputChangedException]] when cached data was lost and the source no
 * longer gives the same rows.
 *
 * @param partitions
 *   one [[ColumnPartition]] per Spark partition, in order of their index; persisted and materialised
 * @param numRows
 *   rows of positive weight, m
 * @param numFeatures
 *   length of the feature vectors, n, constant columns included
 * @param labels
 *   label of each row
 * @param weights
 *   weight of each row, or null where every weight is 1
 * @param weightsBroadcast
 *   the same for the workers, or null
 * @param totalWeight
 *   sum of the weights, S; the number of rows where every weight is 1
 * @param weightSquareSum
 *   sum of the squared weights
 * @param labelMean
 *   weighted mean of the labels
 * @param labelVariance
 *   weighted population variance of the labels
 * @param labelConstant
 *   whether all labels are the same number
 * @param nonzerosPerPartition
 *   nonzeros of each partition
 * @param columnsPerPartition
 *   columns of each partition
 * @param bytes
 *   bytes of all partitions
 */
final class FlatDataset private[data] (
    val partitions: RDD[ColumnPartition],
    val numRows: Int,
    val numFeatures: Int,
    val labels: Array[Double],
    val weights: Array[Double],
    val weightsBroadcast: Broadcast[Array[Double]],
    val totalWeight: Double,
    val weightSquareSum: Double,
    val labelMean: Double,
    val labelVariance: Double,
    val labelConstant: Boolean,
    val nonzerosPerPartition: Array[Long],
    val columnsPerPartition: Array[Int],
    val bytes: Long,
    broadcasts: Seq[Broadcast[_]]) {

  private var released = false

  /** Number of partitions, K. */
  def numPartitions: Int = nonzerosPerPartition.length

  /** Nonzeros of all partitions. */
  def nonzeros: Long = nonzerosPerPartition.sum

  /** Releases the cached columns and what was broadcast for them. The data cannot be used afterwards. */
  def unpersist(): Unit = synchronized {
    if (!released) {
      released = true
      Cached.release(partitions, broadcasts)
    }
  }
}

private[data] object Cached {

  /** Drops what is cached; a context that has stopped has dropped it already. */
  def release(rdd: RDD[_], broadcasts: Seq[Broadcast[_]]): Unit =
    if (!rdd.sparkContext.isStopped) {
      rdd.unpersist(blocking = false)
      broadcasts.foreach(_.destroy())
    }
}

/**
 * Cached data was lost, was computed again, and came out different. Training cannot go on, since part of it has been
 * done on the earlier rows.
 */
final class InputChangedException(message: String) extends IllegalStateException(message)
