package dwell.solver.choice

import dwell.problem.{Loss, MarginLoss, Orientation}

/**
 * Seconds that coordinate descent is expected to take in each orientation: a round moves a vector with an entry per row (primal) or
 * per feature (dual), and touches every nonzero.
 */
private[choice] final case class OrientationForecast(facts: DataFacts, primal: Double, dual: Double) {

  /** The faster orientation. */
  def faster: Orientation = if (primal <= dual) Orientation.Primal else Orientation.Dual

  override def toString: String =
    f"${facts.numRows}%d rows, ${facts.numFeatures}%d features and ${facts.nonzeros}%d nonzeros make for about $primal%.2g s " +
      f"in the primal form where the dual one takes $dual%.2g s"
}

private[choice] object OrientationForecast {

  def of(loss: Loss, facts: DataFacts): OrientationForecast = {
    val (m, n) = (facts.numRows.toDouble, facts.numFeatures.toDouble)
    val bounded = loss match {
      case margin: MarginLoss if margin.saturates => UpperBoundGrowth
      case _ => 1.0
    }
    OrientationForecast(
      facts,
      secondsARound(m, facts.nonzeros) * moreRounds(n / m, PrimalGrowth) * bounded,
      secondsARound(n, facts.nonzeros) * moreRounds(m / n, DualGrowth))
  }

  private def secondsARound(entries: Double, nonzeros: Long): Double =
    SecondsARound + entries * SecondsPerEntry + nonzeros * SecondsPerNonzero

  /**
   * The factor by which the number of rounds grows. The quadratic form of an orientation has at most as many large
   * eigenvalues as the other orientation has coordinates. Only the penalty separates the coordinates beyond that
   * number, which takes more rounds.
   *
   * @param excess
   *   coordinates of this orientation over coordinates of the other
   */
  private def moreRounds(excess: Double, growth: Double): Double = math.pow(math.max(1.0, excess), growth)

  /** The least time of a round in the `driver` mode. */
  private val SecondsARound = 0.05

  /** Time for an entry of the shared vector to travel to the workers and back, in the `driver` mode. */
  private val SecondsPerEntry = 1.5e-7
  private val SecondsPerNonzero = 4e-9

  /**
   * Measured: with 15 rows for each feature, the dual form needs 5 to 10 times the rounds to a gap of 1e-6. With 70
   * features for each row, both forms need about as many rounds to 1e-3 and 1e-4, with searched steps; so they do with
   * the logistic loss (bench/results/2026-11-28-words).
   */
  private val DualGrowth = 0.75
  private val PrimalGrowth = 0.1

  /**
   * The primal form minimises a parabola above the squared hinge, which is 0 for many rows. On words the dual form was at a gap of 1e-6
   * after 59 rounds, and the primal one at 1e-3 after 46 (bench/results/2026-11-28-words).
   */
  private val UpperBoundGrowth = 2.0
}
