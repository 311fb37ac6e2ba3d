package dwell.comm

import scala.concurrent.Await
import scala.concurrent.duration.Duration
import scala.util.control.NonFatal

import org.apache.spark.{Dependency, DwellBridge, FutureAction, Partition, SparkContext, TaskContext}
import org.apache.spark.internal.Logging
import org.apache.spark.rdd.RDD

/** Runs an action on every executor that is registered now, as far as the scheduler allows. */
object OnExecutors extends Logging {

  /**
   * Runs the action in this JVM, and begins to run it on the executors, without waiting for them. This is best effort and
   * bounded in time: an executor that is busy for longer than `limit` is left out. In local mode, and if the context has
   * stopped, only this JVM runs the action.
   *
   * @param action
   *   must be idempotent: Spark may ignore the preferred locations and run two tasks on one executor
   */
  def run(sc: SparkContext, limit: Duration, description: String)(action: () => Unit): Unit = {
    action()
    val locations = if (sc.isStopped) Seq.empty else DwellBridge.executorLocations(sc)
    if (locations.nonEmpty) {
      val group = sc.getLocalProperty(JobGroup)
      val described = sc.getLocalProperty(JobDescription)
      try {
        // Cancelling the caller's job group must not cancel the cleaning up.
        sc.setLocalProperty(JobGroup, null)
        sc.setJobDescription(description)
        val job = sc.submitJob(
          new PinnedToExecutors(sc, locations),
          (_: Iterator[Unit]) => action(),
          locations.indices,
          (_: Int, _: Unit) => (),
          ())
        // A thread of its own: it must inherit nothing of the caller, such as his job group.
        val waiting = new Thread(null, () => finish(job, limit, description), description, 0L, false)
        waiting.setDaemon(true)
        waiting.start()
      } catch {
        case NonFatal(e) => logWarning(s"$description: it could not begin: ${e.getMessage}")
      } finally {
        sc.setLocalProperty(JobGroup, group)
        sc.setJobDescription(described)
      }
    }
  }

  private def finish(job: FutureAction[Unit], limit: Duration, description: String): Unit =
    try Await.ready(job, limit)
    catch {
      case NonFatal(e) =>
        job.cancel()
        logInfo(s"$description: not every executor answered: ${e.getMessage}")
    }

  private val JobGroup = "spark.jobGroup.id"
  private val JobDescription = "spark.job.description"

  /** One empty partition per executor, with that executor as its preferred location. */
  private class PinnedToExecutors(sc: SparkContext, locations: Seq[String])
      extends RDD[Unit](sc, Seq.empty[Dependency[_]]) {
    override protected def getPartitions: Array[Partition] =
      Array.tabulate(locations.size)(i => new Partition { override def index: Int = i })
    override def compute(split: Partition, context: TaskContext): Iterator[Unit] = Iterator.empty
    override protected def getPreferredLocations(split: Partition): Seq[String] = Seq(locations(split.index))
  }
}
