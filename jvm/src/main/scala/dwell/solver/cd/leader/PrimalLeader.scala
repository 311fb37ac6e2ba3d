package dwell.solver.cd.leader

import dwell.fit.ResultHeaders
import dwell.jni.CdLayout
import dwell.problem.{InterceptSearch, MarginLoss}
import dwell.solver.cd.step.{StepChoice, StepFunction, StepValue}
import dwell.solver.cd.worker.{PrimalSubproblem, Subproblem}
import dwell.solver.linear.LinearProblem

/**
 * The leader of primal CoCoA. It holds the margins of all rows, the objective and the lower bound, and searches for the
 * step.
 *
 * Workers solve least squares: with the curvature bound d of the loss and margins z, the model
 * `loss(z + x) <= loss(z) + d (x - r)^2 / 2 + const, r = -loss'(z) / d` has the working residual r. Workers use the
 * penalties divided by d, and the leader multiplies their reports by d.
 *
 * With an intercept b the margins are z = A~ alpha + b with centred columns A~, and b is the exact minimiser at every
 * iterate. Hence sum_j s_j r_j = 0, and no round contains the intercept. The step minimises the objective along the sum
 * of the workers' directions and the step before it (`ls2`). The local models therefore need not be safe for adding:
 * sigma' is 1 and not the number of workers.
 *
 * @param margins
 *   the margins of the rows, 0
 * @param origin
 *   subtracted from the labels of the margins
 * @param rows
 *   number of rows, m
 * @param totalWeight
 *   sum of the weights, S
 * @param coordinates
 *   number of coordinates of each partition
 */
private[solver] final class PrimalLeader(
    margins: Margins,
    origin: Double,
    rows: Int,
    override val totalWeight: Double,
    loss: MarginLoss,
    problem: LinearProblem,
    coordinates: Array[Int],
    adds: Boolean)
    extends CdLeader {
  import PrimalLeader._

  private val workers = coordinates.length
  private val curvature = loss.curvature
  private val penalised = !problem.penalty.isNone

  private var intercept = 0.0
  private var sums: Margins.Losses = _
  private var kappa = 0.0
  private var penalty = 0.0
  private var correlation = Double.PositiveInfinity
  private var bound = Double.NegativeInfinity
  private var worstDrift = 0.0
  private var adding = adds

  shiftIntercept()
  private var objective = lossValue
  private val start = objective
  // Losses and penalties are not negative.
  bound = 0.0

  override def vectorLength: Int = rows
  override def upperBound: Double = objective
  override def lowerBound: Double = bound
  override def drift: Double = worstDrift

  override def sigmaPrime: Double = if (adding) workers.toDouble else 1.0

  override val subproblem: Subproblem =
    PrimalSubproblem(problem.penalty.over(curvature), problem.intercept)

  override val points: Array[Double] =
    if (problem.penalty.l1 > 0.0) StepChoice.everywhere(workers) else Array.emptyDoubleArray

  override def shared: Array[Byte] = margins.residuals(intercept)

  /**
   * Without a penalty there is no bound. The fit then stops if the largest correlation of a feature with the residual
   * is at most `tolerance`, or if nothing is left to explain.
   */
  override def converged(tolerance: Double): Boolean =
    if (penalised) super.converged(tolerance)
    else correlation <= tolerance || objective <= PerfectFit * start

  override def certify(headers: ResultHeaders): Unit = {
    settlePenalty(headers)
    bound = math.max(bound, dual(curvature * headers.sum(CdLayout.CONJUGATE), headers.largest(CdLayout.RATIO)))
    correlation = headers.largest(CdLayout.CORRELATION) / (math.sqrt(sums.slopeSquares / totalWeight) / curvature)
    if (objective - bound < -CdLeader.Rounding * start) {
      throw new IllegalStateException(
        s"${problem.uid}: the duality gap is ${objective - bound}, and no gap can be negative: the workers' state is " +
          "corrupt. Please report this.")
    }
  }

  override def step(update: Array[Double], headers: ResultHeaders): (Double, Double) = {
    settlePenalty(headers)
    val quadratic = StepFunction.quadratic(
      curvature * headers.sum(CdLayout.SLOPE1),
      curvature * headers.sum(CdLayout.SLOPE2),
      curvature * headers.sum(CdLayout.CURVE11),
      curvature * headers.sum(CdLayout.CURVE12),
      curvature * headers.sum(CdLayout.CURVE22))
    margins.take(update)
    val smooth = lossAlong + quadratic
    val samples = points.indices.by(2).map(k => curvature * headers.sum(CdLayout.SAMPLES + k / 2)).toArray
    val change = curvature * (headers.sum(CdLayout.VALUE_AFTER) - headers.sum(CdLayout.VALUE_BEFORE))
    val StepChoice.StepFactors(g1, g2, rest) =
      if (adding) StepChoice.adding(smooth, change, quadratic(1.0, 0.0).value)
      else StepChoice(smooth, points, samples, workers, objective)
    margins.move(g1, g2)
    shiftIntercept()
    penalty += quadratic(g1, g2).value + rest
    val next = lossValue + penalty
    if (!(next <= objective * (1.0 + CdLeader.Rounding) + CdLeader.Rounding * start)) {
      throw new IllegalStateException(
        s"${problem.uid}: the objective rose from $objective to $next, which the line search cannot do: the workers' " +
          "state does not belong to these margins. Please report this.")
    }
    objective = next
    (g1, g2)
  }

  /**
   * With an L1 penalty. A searched step with a factor other than 1 leaves a small remainder of a coefficient that the
   * worker had set to zero. One round of plain adding, with the local model that is safe for it, sets such coefficients
   * to zero again.
   */
  override def finishes: Boolean = problem.penalty.l1 > 0.0

  override def finish(): Unit = adding = adding || finishes

  override def restart(product: Array[Double], headers: ResultHeaders, continues: Boolean): Unit = {
    margins.restart(product)
    intercept = 0.0
    shiftIntercept()
    kappa = headers.sum(CdLayout.KAPPA)
    penalty = curvature * headers.sum(CdLayout.VALUE_BEFORE)
    val exact = lossValue + penalty
    if (continues && exact != objective) {
      worstDrift = math.max(worstDrift, math.abs(exact - objective) / math.max(exact, objective))
    }
    objective = exact
  }

  override def model(collected: Array[(Array[Int], Array[Double])], numFeatures: Int): (Array[Double], Double) = {
    val coefficients = new Array[Double](numFeatures)
    collected.foreach { case (features, values) =>
      features.indices.foreach(i => coefficients(features(i)) = values(i))
    }
    (coefficients, if (problem.intercept) origin + intercept - kappa else 0.0)
  }

  /**
   * Replaces the carried penalty by the one that the workers measured at the start of the round. The carried penalty is
   * an upper bound. A larger measured one means that workers and leader hold different coefficients.
   */
  private def settlePenalty(headers: ResultHeaders): Unit = {
    penalty = curvature * headers.sum(CdLayout.VALUE_BEFORE)
    val measured = lossValue + penalty
    if (!(measured <= objective + CarriedTolerance * math.max(objective, start))) {
      throw new IllegalStateException(
        s"${problem.uid}: the workers' coefficients have the objective $measured, and the leader carried $objective: the " +
          "state is corrupt. Please report this.")
    }
    objective = measured
  }

  /** Moves the intercept to the minimum of the loss, and evaluates the losses there. */
  private def shiftIntercept(): Unit = {
    if (problem.intercept) {
      intercept +=
        (if (loss.isParabola) -margins.slope(intercept).slope / totalWeight
         else InterceptSearch.minimise(shift => margins.slope(intercept + shift)))
    }
    sums = margins.losses(intercept)
  }

  private def lossValue: Double = sums.loss / totalWeight

  /** The loss along the two directions, at the present intercept. */
  private def lossAlong: StepFunction = {
    def evaluated(g1: Double, g2: Double): StepValue = margins.along(intercept, g1, g2) / totalWeight
    if (loss.isParabola) {
      val here = evaluated(0.0, 0.0)
      StepFunction.quadratic(here.slope1, here.slope2, here.curve11, here.curve12, here.curve22)
    } else evaluated(_, _)
  }

  /**
   * A lower bound of the optimum: the Fenchel dual value (Smith et al. 2018, equation (B)) at rho times the derivatives
   * of the loss, scaled as in Massias et al. 2018, section 2.
   *
   * rho = 1 gives a bound if the sum of the conjugates is finite; |rho| <= 1/ratio makes every conjugate zero. The
   * result is the better of the two.
   *
   * @param conjugate
   *   sum_i g_i*(-c~_i^T loss'(z) / S)
   * @param ratio
   *   max_i |c~_i^T loss'(z)| / (S l1_i)
   */
  private[solver] def dual(conjugate: Double, ratio: Double): Double = {
    val limit = if (ratio > 0.0) 1.0 / ratio else Double.PositiveInfinity
    val rho = if (loss.isParabola) bestScale(limit) else math.min(1.0, limit)
    val (atOne, atRho) = margins.conjugates(intercept, 1.0, rho)
    val unscaled = -atOne / totalWeight - conjugate
    val scaled = -atRho / totalWeight
    math.max(0.0, if (unscaled.isNaN) scaled else math.max(unscaled, scaled))
  }

  /** The best scale rho, up to `limit`, for the squared loss, whose dual variables have no bounds. */
  private def bestScale(limit: Double): Double = {
    val best = if (sums.slopeSquares > 0.0) -sums.slopeLabels / sums.slopeSquares else 0.0
    math.max(-limit, math.min(limit, best))
  }
}

private[solver] object PrimalLeader {

  /** An unpenalised fit cannot improve if less than this part of the label's variance is left. */
  private val PerfectFit = 1e-24

  /** Rounding error of the carried objective, relative to the objective. */
  private val CarriedTolerance = 1e-7
}
