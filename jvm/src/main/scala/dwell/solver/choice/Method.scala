package dwell.solver.choice

import dwell.problem.{Algorithm, Orientation, RowUse}

/**
 * How a fit is trained.
 *
 * @param algorithm
 *   its name for users
 * @param use
 *   what workers do with rows, where the data are split by rows
 */
private[solver] sealed abstract class Method(val algorithm: Algorithm, val use: RowUse) {

  /** The orientation, which only coordinate descent has. */
  def orientation: Option[Orientation] = None
}

private[solver] object Method {

  /** Newton's method on sums over pairs of features, and for the hinge its proximal form. */
  case object Newton extends Method(Algorithm.Newton, RowUse.Sums)

  /** L-BFGS; for variables that have bounds a search within them. */
  case object Search extends Method(Algorithm.LBFGS, RowUse.Sums)

  /** Local descent on the rows of each worker, and the average of the models. */
  case object Averaging extends Method(Algorithm.ModelAveraging, RowUse.Averages)

  /**
   * Coordinate descent.
   *
   * @param onTrial
   *   whether the other orientation takes over if the first rounds do not get near the optimum
   */
  final case class Descent(in: Orientation, onTrial: Boolean = false)
      extends Method(Algorithm.CoCoA, RowUse.Coordinates) {
    override def orientation: Option[Orientation] = Some(in)
  }
}

/**
 * The method of a fit.
 *
 * @param reason
 *   why it was chosen, for the report
 * @param forecast
 *   seconds of work on one core that speak for it
 */
private[solver] final case class Choice(method: Method, reason: String, forecast: Option[Double] = None)
