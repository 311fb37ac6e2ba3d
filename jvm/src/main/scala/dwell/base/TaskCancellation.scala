package dwell.base

import java.util.concurrent.CancellationException

import org.apache.spark.{TaskContext, TaskKilledException}

import dwell.jni.Cancellation

/** A solver's call in a task, which ends with the task. */
private[dwell] object TaskCancellation {

  /** @throws org.apache.spark.TaskKilledException where the solver has heard of the end */
  def apply[T](call: Cancellation => T): T = {
    val context = TaskContext.get()
    try call(() => context.isInterrupted())
    catch {
      case e: CancellationException => throw new TaskKilledException(s"fit cancelled: ${e.getMessage}")
    }
  }
}
