package dwell.solver.cd.leader

import org.apache.spark.internal.Logging

import dwell.comm.ModelLostException

/** Work of the leader that workers can disturb by losing what they hold. */
private[leader] object Retried extends Logging {

  /** The result of `body`, or None if workers lost slices while it ran. */
  def once[T](uid: String)(body: => Option[T]): Option[T] =
    try body
    catch {
      case e: ModelLostException =>
        logWarning(s"$uid: ${e.getMessage}")
        None
    }

  /**
   * The first result of `body` in which the workers lost nothing.
   *
   * @throws IllegalStateException
   *   if there is none in `Attempts`
   */
  def apply[T](uid: String)(body: => Option[T]): T =
    Iterator.continually(once(uid)(body)).take(Attempts).collectFirst { case Some(result) => result }.getOrElse {
      throw new IllegalStateException(s"$uid: workers lose their state faster than it can be rebuilt")
    }

  private val Attempts = 5
}
