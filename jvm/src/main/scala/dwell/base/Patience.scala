package dwell.base

import java.util.concurrent.CancellationException

import dwell.jni.Cancellation

/** Asks for cancellation every millisecond or so of work. */
private[dwell] final class Patience(cancellation: Cancellation) {
  private var left = 0L

  /** Accounts for work on a coordinate and `nonzeros` nonzeros. */
  def spend(nonzeros: Int): Unit = {
    left -= nonzeros + Patience.PerCoordinate
    if (left <= 0L) {
      left = Patience.Slice
      if (cancellation.requested()) throw new CancellationException("the task was cancelled")
    }
  }
}

private[dwell] object Patience {
  private val Slice = 200000L

  /** Work on a coordinate apart from its nonzeros, in nonzeros. */
  private val PerCoordinate = 8
}
