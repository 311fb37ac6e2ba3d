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

  /**
   * Checks that a call asks all the time, and ends at the first yes.
   *
   * @param call
   *   goes so many times through the data, which takes ten milliseconds and more: a solver asks every two
   */
  def endInTheMiddle(call: (Long, Cancellation) => Any): Unit = {
    val toTheEnd = new Questions()
    call(1L, toTheEnd)
    assert(toTheEnd.asked > 1)
    val cancelled = new Questions(yesFrom = 3 * toTheEnd.asked)
    intercept[CancellationException](call(1L << 20, cancelled))
    assert(cancelled.asked == 3 * toTheEnd.asked, "the solver went on")
  }
}
