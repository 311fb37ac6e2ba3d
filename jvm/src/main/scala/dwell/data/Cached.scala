package dwell.data

import scala.reflect.ClassTag

import org.apache.spark.{Partitioner, SparkContext}
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.{RDD, ShuffledRDD}
import org.apache.spark.serializer.JavaSerializer

/**
 * Training data in a form that a local solver works on, cached on the workers.
 *
 * Reading `partitions` again may fail with an [[InputChangedException]] when cached data was lost and the source no
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

/** A shuffle of pieces to the partitions that their keys name. */
private[dwell] object Shuffle {

  def byIndex[P: ClassTag](pieces: RDD[(Int, P)], numPartitions: Int): RDD[(Int, P)] =
    // Pieces are a handful of primitive arrays, which gain nothing from Kryo, and need no registration this way.
    new ShuffledRDD[Int, P, P](pieces, new ByIndex(numPartitions))
      .setSerializer(new JavaSerializer(pieces.sparkContext.getConf))

  /**
   * The value of `body`, which reads what was shuffled for `rdd`; the files of these shuffles are removed afterwards. Spark itself
   * would remove them when the driver collects garbage, maybe half an hour later, and not at all on executors that it has
   * taken off its list of block managers at that moment.
   */
  def once[T](rdd: RDD[_])(body: => T): T =
    try body
    finally if (!rdd.sparkContext.isStopped) rdd.cleanShuffleDependencies()

  private final class ByIndex(override val numPartitions: Int) extends Partitioner {
    override def getPartition(key: Any): Int = key.asInstanceOf[Int]
  }
}

/**
 * Cached data was lost, was computed again, and came out different. Training cannot go on, since part of it has been
 * done on the earlier rows.
 */
final class InputChangedException(message: String) extends IllegalStateException(message)
