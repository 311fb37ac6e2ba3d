package dwell.data.cache

import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast

import dwell.bulk.Kept
import dwell.spark.TaskFailure

/** Releases kept RDDs and broadcasts, also if making them fails. */
private[data] object Cached {

  /** Drops the RDD and destroys the broadcasts. Does nothing if the context has stopped, which drops all of them. */
  def release(rdd: Kept[_], broadcasts: Seq[Broadcast[_]]): Unit =
    if (!rdd.sparkContext.isStopped) {
      rdd.drop()
      broadcasts.foreach(_.destroy())
    }

  /** Runs `body`, and releases the RDD and the broadcasts if it throws. See [[dwell.spark.TaskFailure.unwrapped]]. */
  def orRelease[T](rdd: Kept[_], broadcasts: Seq[Broadcast[_]])(body: => T): T =
    try TaskFailure.unwrapped(body)
    catch {
      case e: Throwable =>
        release(rdd, broadcasts)
        throw e
    }

  /** Broadcasts an array; null for null. */
  def broadcast(sc: SparkContext, array: Array[Double]): Broadcast[Array[Double]] =
    if (array == null) null else sc.broadcast(array)

  /** The array of a broadcast that [[broadcast]] made; null for null. */
  def valueOf(broadcast: Broadcast[Array[Double]]): Array[Double] = if (broadcast == null) null else broadcast.value
}
