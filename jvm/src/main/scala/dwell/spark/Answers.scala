package dwell.spark

import scala.reflect.ClassTag

import org.apache.spark.SerializableWritable
import org.apache.spark.rdd.RDD

/** Jobs whose tasks answer the driver with objects of our classes. */
private[dwell] object Answers {

  /**
   * The answer of `task` on each partition. Spark takes results to the driver with the user's serialiser, see [[Cargo]].
   */
  def of[T, R: ClassTag](rdd: RDD[T])(task: Iterator[T] => R): Array[R] = {
    val answers = new Array[R](rdd.getNumPartitions)
    each(rdd)(task)((partition, answer) => answers(partition) = answer)
    answers
  }

  /** Calls `use` with each partition and its answer when it arrives, so that the driver need not hold all of them. */
  def each[T, R](rdd: RDD[T])(task: Iterator[T] => R)(use: (Int, R) => Unit): Unit =
    rdd.sparkContext.runJob(
      rdd,
      (it: Iterator[T]) => Cargo.of(task(it)),
      (partition: Int, answer: SerializableWritable[Cargo[R]]) => use(partition, answer.value.content))
}
