package dwell

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}

/** Waits for what other threads and processes do. */
object Waiting {

  /** Only a guard, for a busy machine. What a case waits for comes soon, or never. */
  val LimitSeconds = 60L

  /**
   * Runs `body` again and again until it throws nothing.
   *
   * @throws java.lang.Throwable
   *   what it has thrown last, after the limit or if this thread is interrupted
   */
  def eventually[T](body: => T): T = {
    val end = System.nanoTime() + LimitSeconds * 1000000000L
    @tailrec
    def attempt(pauseMillis: Long): T = Try(body) match {
      case Success(result) => result
      case Failure(e) =>
        if (System.nanoTime() > end || !sleeps(pauseMillis)) throw e
        attempt(math.min(2 * pauseMillis, MostPauseMillis))
    }
    attempt(LeastPauseMillis)
  }

  /** Whether this thread could sleep to the end. */
  private def sleeps(millis: Long): Boolean =
    try {
      Thread.sleep(millis)
      true
    } catch { case _: InterruptedException => false }

  private val LeastPauseMillis = 20L

  /** What is asked may be a job of Spark's. */
  private val MostPauseMillis = 200L
}
