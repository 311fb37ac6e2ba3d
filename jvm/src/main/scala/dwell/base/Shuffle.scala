package dwell.base

import scala.reflect.ClassTag

import org.apache.spark.Partitioner
import org.apache.spark.rdd.{RDD, ShuffledRDD}
import org.apache.spark.serializer.JavaSerializer

/** A shuffle that sends each piece to the partition that its key names. */
private[dwell] object Shuffle {

  /** Sends each piece to the partition of its key, which must be in 0 until `numPartitions`. */
  def byIndex[P: ClassTag](pieces: RDD[(Int, P)], numPartitions: Int): RDD[(Int, P)] =
    // Pieces are a few primitive arrays. Kryo gains nothing on them, and would need their classes registered.
    new ShuffledRDD[Int, P, P](pieces, new ByIndex(numPartitions))
      .setSerializer(new JavaSerializer(pieces.sparkContext.getConf))

  /**
   * Runs `body`, which reads the shuffles of `rdd`, and then removes their files. Spark itself removes them when the
   * driver collects garbage, maybe half an hour later. By then it may have taken executors off its list of block
   * managers, and it leaves the files on those.
   */
  def once[T](rdd: RDD[_])(body: => T): T =
    try body
    finally if (!rdd.sparkContext.isStopped) rdd.cleanShuffleDependencies()

  private final class ByIndex(override val numPartitions: Int) extends Partitioner {
    override def getPartition(key: Any): Int = key.asInstanceOf[Int]
  }
}
