package dwell.comm

import java.util.concurrent.{LinkedBlockingQueue, TimeUnit}

import scala.reflect.ClassTag

import org.apache.spark.SerializableWritable
import org.apache.spark.rdd.RDD

import dwell.spark.Cargo

/** Spark jobs with one task for each partition, and their descriptions in Spark's UI. */
private[dwell] object Job {

  /**
   * Runs a job with one task for each partition, and passes on each result as it arrives. If the job fails, or `take`
   * throws, the exception is thrown here and the job is cancelled.
   *
   * @param task
   *   must not refer to anything that cannot be serialised
   * @param take
   *   called in this thread with the partition and its result. (Spark's own handler runs on the scheduler's event loop,
   *   where any work would hold up every other job of the application.)
   */
  def run[T, R: ClassTag](data: RDD[T])(task: Iterator[T] => R)(take: (Int, R) => Unit): Unit = {
    val partitions = data.getNumPartitions
    val arrived = new LinkedBlockingQueue[(Int, R)]()
    val job = data.sparkContext.submitJob(
      data,
      (it: Iterator[T]) => Cargo.of(task(it)),
      0 until partitions,
      (k: Int, r: SerializableWritable[Cargo[R]]) => arrived.put((k, r.value.content)),
      ())
    var taken = 0
    try {
      while (taken < partitions) {
        // A failed job delivers no further results, so this checks for completion between two polls.
        val done = job.isCompleted
        val item = arrived.poll(PollMillis, TimeUnit.MILLISECONDS)
        if (item != null) {
          take(item._1, item._2)
          taken += 1
        } else if (done) {
          job.value.foreach(_.get) // throws the exception of a failed job
          throw new IllegalStateException(s"a job ended with $taken of $partitions results")
        }
      }
    } catch {
      case e: Throwable =>
        job.cancel()
        throw e
    }
  }

  /** Runs `body`; Spark's UI shows its jobs with this description. */
  def described[T](data: RDD[_], description: String)(body: => T): T = {
    val sc = data.sparkContext
    val before = sc.getLocalProperty(Description)
    sc.setJobDescription(description)
    try body
    finally sc.setJobDescription(before)
  }

  /**
   * Adds a line to Spark's list of jobs: a job without tasks, for which Spark schedules nothing. Spark's UI has no
   * other way to show the progress within a running task, since it updates accumulators only when tasks end.
   */
  def line[T](data: RDD[T], description: String): Unit = described(data, description) {
    data.sparkContext.submitJob(data, (_: Iterator[T]) => (), Seq.empty, (_: Int, _: Unit) => (), ())
    ()
  }

  private val PollMillis = 100L
  private val Description = "spark.job.description"
}
