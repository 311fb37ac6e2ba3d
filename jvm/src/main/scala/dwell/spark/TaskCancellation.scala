package dwell.spark

import java.util.concurrent.CancellationException

import org.apache.spark.{TaskContext, TaskKilledException}

import dwell.jni.Cancellation

/** Runs a solver's call within a task. The call ends early if Spark kills the task. */
private[dwell] object TaskCancellation {

  /** @throws org.apache.spark.TaskKilledException if the solver stopped because the task was killed */
  def apply[T](call: Cancellation => T): T = {
    val context = TaskContext.get()
    try call(() => context.isInterrupted())
    catch {
      case e: CancellationException => throw new TaskKilledException(s"fit cancelled: ${e.getMessage}")
    }
  }
}
