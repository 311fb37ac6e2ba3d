package dwell.solver.linear

import dwell.fit.{Aggregation, DescentProblem, SolverSettings}
import dwell.problem.{Algorithm, Loss, Orientation, Penalty}

/**
 * A linear model to train: minimise over coefficients alpha and intercept b
 *
 * {{{
 *   F = (1/S) sum_i s_i loss(x_i^T alpha + b; y_i) + sum_j [ l1 u_j |alpha_j| + l2 u_j^2 alpha_j^2 / 2 ]
 * }}}
 *
 * @param algorithm
 *   None lets the fit choose its methods, and go on with another one where one ends above `tolerance`
 * @param loss
 *   where the loss takes -1 and 1, the labels of the data are 0 and 1. Coordinate descent does not take the softmax
 * @param penalty
 *   defines l1, l2 and u
 * @param intercept
 *   whether b is trained, without a penalty; 0 otherwise
 * @param tolerance
 *   the bound of the relative suboptimality at which to stop. No bound exists without a penalty; the fit then stops at
 *   this largest correlation of a feature with the residual
 * @param localWork
 *   epochs over the local coordinates in a round, at most one for a batch; None lets the measured times choose
 * @param orientation
 *   of coordinate descent; None chooses the one that is expected to be faster
 * @param numWorkers
 *   0 chooses by the size of the data
 * @param aggregation
 *   None chooses by what the cluster allows
 * @param initial
 *   coefficients and intercepts to start from, in the layout of [[LinearSolution]]; used in the primal orientation and
 *   by algorithms that work on coefficients
 * @param stepSize
 *   the first step size of local SGD; None searches for it
 * @param bounds
 *   of coefficients and intercepts; only Newton's method and L-BFGS keep them
 */
final case class LinearProblem(
    uid: String,
    algorithm: Option[Algorithm],
    loss: Loss,
    penalty: Penalty,
    intercept: Boolean,
    tolerance: Double,
    maxRounds: Int,
    localWork: Option[Double],
    orientation: Option[Orientation],
    numWorkers: Int,
    aggregation: Option[Aggregation],
    seed: Long,
    initial: Option[(Array[Double], Array[Double])],
    settings: SolverSettings,
    stepSize: Option[Double] = None,
    bounds: Option[ModelBounds] = None)
    extends DescentProblem {

  /** Whether the fit chooses its methods. */
  def isAuto: Boolean = algorithm.isEmpty

  /** Whether a variable has bounds: coefficients or intercepts, or the scale of the errors, which is positive. */
  def isBounded: Boolean = bounds.nonEmpty || loss.epsilon.nonEmpty

  /**
   * The relative gap at which rounds end. Spark's rule looks at the last decreases and ends nearer to the optimum than `tol`, so a
   * fit that chooses its methods itself does as well. The gap of the hinge falls slowly by any method.
   */
  def aim: Double =
    if (isAuto && !loss.curvature.isInfinite) LinearProblem.Nearer * tolerance else tolerance
}

object LinearProblem {
  private val Nearer = 0.1
}
