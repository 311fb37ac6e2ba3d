package dwell.solver

import java.util.concurrent.CancellationException
import java.util.concurrent.atomic.AtomicLong

import org.scalatest.Assertions._

import dwell.jni.Cancellation

/** Counts how often a solver asks whether its call is cancelled. The answer is yes from this question on. */
private[solver] final class Questions(yesFrom: Long = Long.MaxValue) extends Cancellation {
  private val count = new AtomicLong
  def asked: Long = count.get
  override def requested(): Boolean = count.incrementAndGet() >= yesFrom
}

private[solver] object Questions {

  /** Most entries that a solver goes through between two questions: a few milliseconds of work. */
  private val MostEntries = 1000000L

  /**
   * Checks that a call asks all the time, and ends at the first yes.
   *
   * @param entries
   *   entries of the data
   * @param call
   *   goes so many times through the data
   */
  def endInTheMiddle(entries: Long)(call: (Long, Cancellation) => Any): Unit = {
    val toTheEnd = new Questions()
    call(1L, toTheEnd)
    assert(toTheEnd.asked >= entries / MostEntries)
    val cancelled = new Questions(yesFrom = 3 * toTheEnd.asked)
    intercept[CancellationException](call(1L << 20, cancelled))
    assert(cancelled.asked == 3 * toTheEnd.asked, "the solver went on")
  }
}
