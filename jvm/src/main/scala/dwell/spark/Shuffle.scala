package dwell.spark

import scala.reflect.ClassTag

import org.apache.spark.Partitioner
import org.apache.spark.rdd.{RDD, ShuffledRDD}
import org.apache.spark.serializer.{JavaSerializer, Serializer}

/** A shuffle that sends each piece to the partition that its key names. */
private[dwell] object Shuffle {

  /** Sends each piece to the partition of its key, which must be in 0 until `numPartitions`. */
  def byIndex[P: ClassTag](pieces: RDD[(Int, P)], numPartitions: Int): RDD[(Int, P)] =
    // The user's serialiser might need the classes of pieces registered.
    new ShuffledRDD[Int, P, P](pieces, new ByIndex(numPartitions))
      .setSerializer(new JavaSerializer(pieces.sparkContext.getConf))

  /** The same, in the order of the partitions that send the pieces. A partition sends each other one at most one piece. */
  def inOrder[P: ClassTag](pieces: RDD[(Int, P)], numPartitions: Int): RDD[P] = {
    val numbered = pieces.mapPartitionsWithIndex { (from, own) =>
      own.map { case (to, piece) => (to.toLong << 32 | from, piece) }
    }
    inOrder(numbered, numPartitions, new JavaSerializer(pieces.sparkContext.getConf))
  }

  /** Sends each piece to the partition of its key's upper half, in the order of the keys. Spark sorts, on disk if memory is short. */
  def inOrder[P: ClassTag](pieces: RDD[(Long, P)], numPartitions: Int, serializer: Serializer): RDD[P] =
    byUpperHalf(pieces, numPartitions, serializer).setKeyOrdering(Ordering.Long).map(_._2)

  /** The same in any order. */
  def byUpperHalf[P: ClassTag](pieces: RDD[(Long, P)], partitions: Int, by: Serializer): ShuffledRDD[Long, P, P] =
    new ShuffledRDD[Long, P, P](pieces, new ByUpperHalf(partitions)).setSerializer(by)

  /**
   * Runs `body`, which reads the shuffles of `rdd`, and then removes their files. Spark itself removes them when the
   * driver collects garbage, maybe half an hour later. By then it may have taken executors off its list of block
   * managers, and it leaves the files on those.
   */
  def once[T](rdd: RDD[_])(body: => T): T =
    try body
    finally if (!rdd.sparkContext.isStopped) rdd.cleanShuffleDependencies()

  private final class ByUpperHalf(override val numPartitions: Int) extends Partitioner {
    override def getPartition(key: Any): Int = (key.asInstanceOf[Long] >>> 32).toInt
  }

  private final class ByIndex(override val numPartitions: Int) extends Partitioner {
    override def getPartition(key: Any): Int = key.asInstanceOf[Int]
  }
}
