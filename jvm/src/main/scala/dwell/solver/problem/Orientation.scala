package dwell.solver.problem

import dwell.data.TrainingRows

/**
 * Which variables the coordinates are: coefficients of features (`primal`) or dual variables of rows (`dual`).
 *
 * @param reason
 *   for the report
 */
final case class Orientation(orientation: String, reason: String)

object Orientation {
  val Auto = "auto"
  val Primal = "primal"
  val Dual = "dual"

  /**
   * The orientation that a problem asks for, or the one that is expected to be faster among those that can solve it: a
   * round moves a vector with an entry per row (primal) or per feature (dual), and touches every nonzero.
   *
   * @throws IllegalArgumentException
   *   if the orientation asked for cannot solve the problem
   */
  def choose(problem: LinearProblem, rows: TrainingRows): Orientation = {
    val gradients = problem.algorithm.ofRows
    val primalNo =
      if (gradients) Some(s"the steps of ${problem.algorithm.name} are along rows")
      else if (problem.loss.curvature.isInfinite) Some(s"the ${problem.loss} loss is not smooth")
      else None
    val dualNo =
      if (problem.l2 == 0.0 && !gradients) Some("the penalty has no L2 part") else None
    def refuse(name: String, why: String): Nothing =
      throw new IllegalArgumentException(s"orientation=$name cannot train this model: $why. Use orientation=auto.")
    problem.orientation match {
      case Primal => primalNo.fold(Orientation(Primal, "as set"))(refuse(Primal, _))
      case Dual => dualNo.fold(Orientation(Dual, "as set"))(refuse(Dual, _))
      case _ =>
        (primalNo, dualNo) match {
          case (Some(primal), Some(dual)) =>
            throw new IllegalArgumentException(s"neither orientation can train this model: $primal, and $dual")
          case (Some(why), None) => Orientation(Dual, why)
          case (None, Some(why)) => Orientation(Primal, why)
          case (None, None) => faster(problem.loss, rows)
        }
    }
  }

  private def faster(loss: Loss, rows: TrainingRows): Orientation = {
    val (m, n) = (rows.numRows.toDouble, rows.numFeatures.toDouble)
    val bounded = if (loss == Squared) 1.0 else UpperBoundGrowth
    val primal = secondsARound(m, rows.nonzeros) * moreRounds(n / m, PrimalGrowth) * bounded
    val dual = secondsARound(n, rows.nonzeros) * moreRounds(m / n, DualGrowth)
    val orientation = if (primal <= dual) Primal else Dual
    Orientation(
      orientation,
      f"${rows.numRows}%d rows, ${rows.numFeatures}%d features and ${rows.nonzeros}%d nonzeros make for about $primal%.2g s " +
        f"in the primal form where the dual one takes $dual%.2g s")
  }

  private def secondsARound(entries: Double, nonzeros: Long): Double =
    SecondsARound + entries * SecondsPerEntry + nonzeros * SecondsPerNonzero

  /**
   * The quadratic form of either orientation has at most as many large eigenvalues as the other has coordinates: with
   * more coordinates than that, only the penalty keeps the rest of them apart, and rounds grow.
   *
   * @param excess
   *   coordinates for each one of the other orientation
   */
  private def moreRounds(excess: Double, growth: Double): Double = math.pow(math.max(1.0, excess), growth)

  /** What a round of the `driver` mode costs at the least. */
  private val SecondsARound = 0.05

  /** An entry of the shared vector to the workers and back, in the `driver` mode. */
  private val SecondsPerEntry = 1.5e-7
  private val SecondsPerNonzero = 4e-9

  /**
   * Measured: with 15 rows for each feature 5 to 10 times the rounds in the dual form to a gap of 1e-6; with 70 features for
   * each row about as many rounds in both forms to 1e-3 and 1e-4, once steps are searched.
   */
  private val DualGrowth = 0.75
  private val PrimalGrowth = 0.1

  /**
   * Of a loss that is not a parabola the primal form minimises a parabola above it: with the logistic loss twice the
   * rounds of the dual form on real text (bench/results/2026-11-21-spark-rounds).
   */
  private val UpperBoundGrowth = 2.0
}
