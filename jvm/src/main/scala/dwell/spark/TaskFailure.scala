package dwell.spark

import org.apache.spark.SparkException

import dwell.jni.NativeUnavailableException

/** Sorts the exceptions of tasks: which ones are for the user, and which ones a second try may avoid. */
private[dwell] object TaskFailure {

  /**
   * Runs a job. If a task throws an exception that is meant for the user, this throws that exception instead of Spark's
   * wrapper around it.
   */
  def unwrapped[T](job: => T): T =
    try job
    catch {
      case e: SparkException =>
        e.getCause match {
          case cause @ (_: InputChangedException | _: IllegalArgumentException | _: NativeUnavailableException) =>
            cause.addSuppressed(e)
            throw cause
          case _ => throw e
        }
    }

  /** Whether a job failed because it was cancelled: Spark tells it by the message alone. */
  def isCancellation(e: SparkException): Boolean = e.getMessage != null && e.getMessage.contains("cancelled")

  /** Whether a second try would throw this again: a message for the user, a missing library, or a broken invariant. */
  def isFinal(e: Exception): Boolean = e match {
    case _: IllegalArgumentException | _: ArithmeticException | _: IllegalStateException => true
    case _: NativeUnavailableException => true
    case _ => false
  }
}
