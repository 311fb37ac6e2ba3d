package dwell.solver

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
    val primalNo =
      if (problem.loss.curvature.isInfinite) Some(s"the ${problem.loss} loss is not smooth") else None
    val dualNo =
      if (problem.l2 == 0.0) Some("the penalty has no L2 part") else None
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
          case (None, None) => faster(rows)
        }
    }
  }

  private def faster(rows: TrainingRows): Orientation = {
    val primal = secondsARound(rows.numRows.toLong, rows.nonzeros)
    val dual = secondsARound(rows.numFeatures.toLong, rows.nonzeros) * DualRounds
    val orientation = if (primal <= dual) Primal else Dual
    Orientation(
      orientation,
      f"${rows.numRows}%d rows, ${rows.numFeatures}%d features, ${rows.nonzeros}%d nonzeros: about $primal%.2g s of work a " +
        f"round in the primal form and $dual%.2g s in the dual one")
  }

  /** A round's part that depends on the orientation: what is sent, and one epoch. */
  private def secondsARound(entries: Long, nonzeros: Long): Double =
    entries * SecondsPerEntry + nonzeros * SecondsPerNonzero

  /** An entry of the shared vector to the workers and back, in the `driver` mode. */
  private val SecondsPerEntry = 1.5e-7
  private val SecondsPerNonzero = 4e-9

  /** Rounds that the dual form needs for one of the primal form. */
  private val DualRounds = 1.0
}
