package dwell.base

import java.util.concurrent.CancellationException

import dwell.jni.Cancellation

/** A budget of work, about a millisecond. Each time it is spent, the solver checks whether its task was cancelled. */
private[dwell] final class Patience(cancellation: Cancellation) {
  private var left = 0L

  /**
   * Spends the work of one coordinate with `nonzeros` nonzeros.
   *
   * @throws java.util.concurrent.CancellationException
   *   if the budget is spent and the task was cancelled
   */
  def spend(nonzeros: Int): Unit = {
    left -= nonzeros + Patience.PerCoordinate
    if (left <= 0L) {
      left = Patience.Slice
      if (cancellation.requested()) throw new CancellationException("the task was cancelled")
    }
  }
}

private[dwell] object Patience {

  /** The work between two checks, in nonzeros. */
  private val Slice = 200000L

  /** The fixed work of a coordinate, in nonzeros. */
  private val PerCoordinate = 8
}
