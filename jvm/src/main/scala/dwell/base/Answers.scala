package dwell.base

import java.nio.ByteBuffer

import scala.reflect.ClassTag

import org.apache.spark.SparkEnv
import org.apache.spark.rdd.RDD

/** Jobs whose tasks answer the driver with objects of our classes. */
private[dwell] object Answers {

  /**
   * The answer of `task` on each partition. Spark takes results to the driver with the user's serialiser, which may know
   * arrays of bytes only.
   */
  def of[T, R: ClassTag](rdd: RDD[T])(task: Iterator[T] => R): Array[R] = {
    val answers = new Array[R](rdd.getNumPartitions)
    each(rdd)(task)((partition, answer) => answers(partition) = answer)
    answers
  }

  /** Calls `use` with each partition and its answer when it arrives, so that the driver need not hold all of them. */
  def each[T, R](rdd: RDD[T])(task: Iterator[T] => R)(use: (Int, R) => Unit): Unit = {
    val serializer = SparkEnv.get.closureSerializer.newInstance()
    val loader = Thread.currentThread().getContextClassLoader
    rdd.sparkContext.runJob(
      rdd,
      (it: Iterator[T]) => {
        val bytes = SparkEnv.get.closureSerializer.newInstance().serialize[Any](task(it))
        java.util.Arrays.copyOf(bytes.array(), bytes.limit())
      },
      (partition: Int, bytes: Array[Byte]) =>
        use(partition, serializer.deserialize[Any](ByteBuffer.wrap(bytes), loader).asInstanceOf[R]))
  }
}
