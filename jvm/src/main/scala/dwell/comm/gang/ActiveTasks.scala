package dwell.comm.gang

import scala.collection.mutable

import org.apache.spark.scheduler._

/**
 * Counts the tasks of each job that run now. (The counts of `SparkContext.statusTracker` may be some heartbeats old.)
 */
private[comm] final class ActiveTasks extends SparkListener {
  private val stages = mutable.Map.empty[Int, Seq[Int]]
  private val active = mutable.Map.empty[Int, Int].withDefaultValue(0)

  /** Whether a task of the job is running. */
  def of(job: Int): Boolean = synchronized(stages.getOrElse(job, Seq.empty).exists(active(_) > 0))

  override def onJobStart(job: SparkListenerJobStart): Unit = synchronized(stages(job.jobId) = job.stageIds)
  override def onTaskStart(task: SparkListenerTaskStart): Unit = add(task.stageId, 1)
  override def onTaskEnd(task: SparkListenerTaskEnd): Unit = add(task.stageId, -1)

  private def add(stage: Int, tasks: Int): Unit = synchronized(active(stage) += tasks)
}
