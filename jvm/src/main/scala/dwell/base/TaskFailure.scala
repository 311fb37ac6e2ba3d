package dwell.base

import org.apache.spark.SparkException

private[dwell] object TaskFailure {

  /**
   * Runs a job. Where it fails because a task raised one of the exceptions that are meant for the user, that exception
   * is raised instead of Spark's wrapper around it.
   */
  def unwrapped[T](job: => T): T =
    try job
    catch {
      case e: SparkException =>
        e.getCause match {
          case cause @ (_: InputChangedException | _: IllegalArgumentException) =>
            cause.addSuppressed(e)
            throw cause
          case _ => throw e
        }
    }

  /** Whether what raised this raises it again when it is repeated: a message for the user, or a broken invariant. */
  def isFinal(e: Exception): Boolean = e match {
    case _: IllegalArgumentException | _: ArithmeticException | _: IllegalStateException => true
    case _ => false
  }
}
