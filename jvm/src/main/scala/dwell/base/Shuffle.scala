package dwell.base

import scala.reflect.ClassTag

import org.apache.spark.Partitioner
import org.apache.spark.rdd.{RDD, ShuffledRDD}
import org.apache.spark.serializer.JavaSerializer

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
