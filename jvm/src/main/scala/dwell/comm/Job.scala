package dwell.comm

import java.util.concurrent.{LinkedBlockingQueue, TimeUnit}

import scala.reflect.ClassTag

import org.apache.spark.rdd.RDD

private[dwell] object Job {

  /**
   * Runs a job with one task a partition, and hands its results over as they arrive.
   *
   * @param task
   *   must not hold on to anything that cannot be serialised
   * @param take
   *   called in this thread. (Spark's own handler runs on the scheduler's event loop, where any work would stop every other
   *   job of the application.)
   */
  def run[T, R: ClassTag](data: RDD[T])(task: Iterator[T] => R)(take: (Int, R) => Unit): Unit = {
    val partitions = data.getNumPartitions
    val arrived = new LinkedBlockingQueue[(Int, R)]()
    val job = data.sparkContext.submitJob(data, task, 0 until partitions, (k: Int, r: R) => { arrived.put((k, r)) }, ())
    var taken = 0
    try {
      while (taken < partitions) {
        // A failed job delivers no further results, so completion is asked for between two looks.
        val done = job.isCompleted
        val item = arrived.poll(PollMillis, TimeUnit.MILLISECONDS)
        if (item != null) {
          take(item._1, item._2)
          taken += 1
        } else if (done) {
          job.value.foreach(_.get) // throws what the job failed with
          throw new IllegalStateException(s"a job ended with $taken of $partitions results")
        }
      }
    } catch {
      case e: Throwable =>
        job.cancel()
        throw e
    }
  }

  /** Describes the jobs of `body`, for Spark's UI. */
  def described[T](data: RDD[_], description: String)(body: => T): T = {
    val sc = data.sparkContext
    val before = sc.getLocalProperty(Description)
    sc.setJobDescription(description)
    try body
    finally sc.setJobDescription(before)
  }

  /**
   * Puts a line into Spark's list of jobs: a job without tasks, which nothing is scheduled for. It is what Spark's UI can show
   * of a job that runs, since it counts accumulators when tasks end only.
   */
  def line[T](data: RDD[T], description: String): Unit = described(data, description) {
    data.sparkContext.submitJob(data, (_: Iterator[T]) => (), Seq.empty, (_: Int, _: Unit) => (), ())
    ()
  }

  private val PollMillis = 100L
  private val Description = "spark.job.description"
}
