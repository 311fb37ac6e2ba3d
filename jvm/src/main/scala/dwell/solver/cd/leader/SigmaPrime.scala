package dwell.solver.cd.leader

import dwell.solver.problem.Algorithm

/**
 * The weight of the quadratic term of the workers' local models.
 *
 * @param coordinates
 *   of all workers
 * @param sharing
 *   coordinates for each entry of the shared vector, in the mean
 */
private[solver] final class SigmaPrime(algorithm: Algorithm, workers: Int, coordinates: Long, sharing: Double) {
  import SigmaPrime._

  /** With it the workers' steps can be added as they are: the objective does not rise. */
  val safe: Double = if (algorithm.batch) math.max(1L, coordinates).toDouble else workers.toDouble

  private var lower = if (algorithm.batch) math.max(1.0, math.min(safe, sharing)) else 1.0

  /** Where steps are searched: the search makes up for less than is safe, and in CoCoA less was never found to be worse. */
  def searched: Double = lower

  /**
   * Steps of a batch that were all too short or too long are made longer or shorter in the next one: their length is
   * tuned, as a user would, but round by round.
   *
   * @param factor
   *   the step factor that was found for their sum
   */
  def learn(factor: Double): Unit = if (algorithm.batch) {
    val change = if (factor > 0.0) math.sqrt(1.0 / factor) else Most
    lower = math.max(1.0, math.min(safe, lower * math.max(1.0 / Most, math.min(Most, change))))
  }
}

private[solver] object SigmaPrime {

  /** By so much it changes in a round. */
  private val Most = 2.0
}
