package dwell.solver.cd.step

import dwell.problem.Algorithm

/**
 * The weight of the quadratic term of the workers' local models.
 *
 * @param coordinates
 *   coordinates of all workers
 * @param sharing
 *   mean number of coordinates that touch an entry of the shared vector
 */
private[solver] final class SigmaPrime(algorithm: Algorithm, workers: Int, coordinates: Long, sharing: Double) {
  import SigmaPrime._

  /** The value with which the leader may add the workers' steps without a search: the objective does not rise. */
  val safe: Double = if (algorithm.batch) math.max(1L, coordinates).toDouble else workers.toDouble

  private var lower = if (algorithm.batch) math.max(1.0, math.min(safe, sharing)) else 1.0

  /**
   * The value for searched steps. The search makes up for a value below the safe one. In CoCoA a smaller value was
   * never found to be worse.
   */
  def searched: Double = lower

  /**
   * Lengthens or shortens the steps of the next batch if all steps of this one were too short or too long. A user would
   * tune their length in the same way, but not round by round.
   *
   * @param factor
   *   the step factor that the search found for their sum
   */
  def learn(factor: Double): Unit = if (algorithm.batch) {
    val change = if (factor > 0.0) math.sqrt(1.0 / factor) else Most
    lower = math.max(1.0, math.min(safe, lower * math.max(1.0 / Most, math.min(Most, change))))
  }
}

private[solver] object SigmaPrime {

  /** Largest factor of its change in a round. */
  private val Most = 2.0
}
