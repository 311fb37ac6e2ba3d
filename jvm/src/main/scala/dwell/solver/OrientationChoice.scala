package dwell.solver

import dwell.data.TrainingRows
import dwell.problem.{Loss, MarginLoss, Orientation}
import dwell.solver.cd.leader.Pace
import dwell.solver.linear.LinearProblem

/**
 * The orientation of a fit.
 *
 * @param reason
 *   why it was chosen, for the report
 * @param onTrial
 *   whether the primal orientation takes over if the first rounds do not get near the optimum
 */
private[solver] final case class OrientationChoice(orientation: Orientation, reason: String, onTrial: Boolean = false) {

  /** The choice after a trial that failed. */
  def afterTrial(rounds: Int): OrientationChoice =
    OrientationChoice(Orientation.Primal, s"$reason; after $rounds rounds in the dual form the gap was not closed")
}

private[solver] object OrientationChoice {
  import Orientation.{AlongRows, Dual, NoL2, NotSmooth, Objection, Primal, PrimalRows}

  /**
   * The orientation that a problem asks for. If it asks for none, the one that is expected to be faster, among those
   * that can solve it: a round moves a vector with an entry per row (primal) or per feature (dual), and touches every
   * nonzero.
   *
   * @param mayTry
   *   whether a trial of the dual orientation may be made
   * @throws IllegalArgumentException
   *   if the orientation asked for, or every orientation, cannot solve the problem
   */
  def apply(problem: LinearProblem, rows: TrainingRows, mayTry: Boolean): OrientationChoice = {
    def objection(orientation: Orientation): Option[String] =
      orientation.objection(problem.algorithm, problem.loss, problem.penalty).map(told(_, problem))
    problem.orientation match {
      case Some(asked) =>
        objection(asked).foreach { why =>
          throw new IllegalArgumentException(
            s"orientation=${asked.name} cannot train this model: $why. Use orientation=auto.")
        }
        OrientationChoice(asked, "as set")
      case None =>
        (objection(Primal), objection(Dual)) match {
          case (Some(primal), Some(dual)) =>
            throw new IllegalArgumentException(s"neither orientation can train this model: $primal, and $dual")
          case (Some(why), None) => OrientationChoice(Dual, why)
          case (None, Some(why)) => OrientationChoice(Primal, why)
          case (None, None) if rows.numRows > PrimalRows =>
            OrientationChoice(Dual, s"there are more than $PrimalRows rows")
          case (None, None) if mayTry && isTried(problem, rows) =>
            val many =
              s"there are ${rows.numFeatures} features for ${rows.numRows} rows, which may be nearly orthogonal"
            OrientationChoice(Dual, many, onTrial = true)
          case (None, None) => faster(problem.loss, rows)
        }
    }
  }

  /**
   * Whether a trial of the dual form is worth its seconds. With more features than rows, steps along features leave the span
   * of the rows, and only the L2 penalty brings them back. Steps along rows stay in it, and rows with many features of
   * their own hardly disturb each other.
   */
  private def isTried(problem: LinearProblem, rows: TrainingRows): Boolean = {
    val isParabola = problem.loss match {
      case margin: MarginLoss => margin.isParabola
      case _ => false
    }
    isParabola && problem.handsOver && problem.localWork.isEmpty && problem.maxRounds > Pace.TrialRounds &&
    problem.penalty.l1 == 0.0 && rows.numFeatures >= Wide * rows.numRows
  }

  private def told(objection: Objection, problem: LinearProblem): String = objection match {
    case AlongRows => if (problem.reason.isEmpty) "its steps are along rows" else problem.reason
    case NotSmooth => s"the ${problem.loss} loss is not smooth"
    case NoL2 => "the penalty has no L2 part"
  }

  private def faster(loss: Loss, rows: TrainingRows): OrientationChoice = {
    val (m, n) = (rows.numRows.toDouble, rows.numFeatures.toDouble)
    val bounded = loss match {
      case margin: MarginLoss if margin.isParabola => 1.0
      case _ => UpperBoundGrowth
    }
    val primal = secondsARound(m, rows.nonzeros) * moreRounds(n / m, PrimalGrowth) * bounded
    val dual = secondsARound(n, rows.nonzeros) * moreRounds(m / n, DualGrowth)
    val orientation = if (primal <= dual) Orientation.Primal else Orientation.Dual
    OrientationChoice(
      orientation,
      f"${rows.numRows}%d rows, ${rows.numFeatures}%d features and ${rows.nonzeros}%d nonzeros make for about $primal%.2g s " +
        f"in the primal form where the dual one takes $dual%.2g s")
  }

  /** Times as many features as rows from which a trial is made. Rows of random features are nearly orthogonal there. */
  private val Wide = 5L

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
   * features for each row, both forms need about as many rounds to 1e-3 and 1e-4, with searched steps.
   */
  private val DualGrowth = 0.75
  private val PrimalGrowth = 0.1

  /**
   * The primal form minimises a parabola above a loss that is not one. With the logistic loss it needed twice the
   * rounds of the dual form on real text (bench/results/2026-11-21-spark-rounds).
   */
  private val UpperBoundGrowth = 2.0
}
