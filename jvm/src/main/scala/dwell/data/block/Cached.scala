package dwell.data.block

import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD

import dwell.base.TaskFailure

private[data] object Cached {

  /** Drops what is cached; a context that has stopped has dropped it already. */
  def release(rdd: RDD[_], broadcasts: Seq[Broadcast[_]]): Unit =
    if (!rdd.sparkContext.isStopped) {
      rdd.unpersist(blocking = false)
      broadcasts.foreach(_.destroy())
    }

  /** The value of `body`; if it throws, what is cached is released. */
  def orRelease[T](rdd: RDD[_], broadcasts: Seq[Broadcast[_]])(body: => T): T =
    try TaskFailure.unwrapped(body)
    catch {
      case e: Throwable =>
        release(rdd, broadcasts)
        throw e
    }

  /** Nothing is broadcast for an absent array. */
  def broadcast(sc: SparkContext, array: Array[Double]): Broadcast[Array[Double]] =
    if (array == null) null else sc.broadcast(array)

  def valueOf(broadcast: Broadcast[Array[Double]]): Array[Double] = if (broadcast == null) null else broadcast.value
}
