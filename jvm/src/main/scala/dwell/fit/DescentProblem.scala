package dwell.fit

/** The part of a problem that rounds of local descent read. */
trait DescentProblem extends FitProblem {

  /** Relative decrease of the objective in an epoch up to which it counts as no progress. */
  def tolerance: Double

  /** The most rounds. */
  def maxRounds: Int

  /** Passes over the local rows in a round; None for 1. */
  def localWork: Option[Double]

  /** The first step size; None searches for it. */
  def stepSize: Option[Double]
}
