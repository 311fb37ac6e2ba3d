package dwell.solver.cd.leader

import dwell.data.rows.RowSummary
import dwell.fit.ResultHeaders
import dwell.jni.CdLayout
import dwell.problem.{LabelFacts, MarginLoss, SoftThreshold}
import dwell.solver.linear.LinearProblem

/**
 * Mini-batch SGD as in Spark's `GradientDescent`. In every round the workers take the gradients of their next rows at
 * the same coefficients, and the leader makes one proximal step of length `rate / sqrt(t)`,
 *
 * {{{
 *   v <- soft(v - step g, step l1) / (1 + step l2),   v = u coefficient
 * }}}
 *
 * where `u` is the root of one over `scale`: in units of v all features have the same penalty. A batch draws its rows
 * without replacement, and scales their gradient to all rows. The intercept has no penalty.
 *
 * The leader tunes the rate as a user would. It starts at a rate that cannot overshoot, raises it while the objective
 * falls from one certificate to the next, and halves it when the objective rises, going back to the best model so far.
 *
 * The derivatives of all rows are dual variables. A batch of a whole epoch gives a lower bound from them, as in
 * [[DualLeader]]; without an L2 penalty the lower bound stays 0.
 */
private[solver] final class MiniBatchGradient(
    data: RowSummary,
    n: Int,
    labels: LabelFacts,
    loss: MarginLoss,
    problem: LinearProblem)
    extends DualLeader(data, n, labels, loss, problem) {
  import MiniBatchGradient._

  private val numRows = data.rowsPerPartition.map(_.toLong).sum

  /** The intercept of centred features, as everywhere in this orientation. */
  private var current = interceptAlone
  private var overshot = false

  private var rate =
    1.0 / (math.min(loss.curvature, SteepestCurvature) * math.max(data.meanSquareNorm + nu, Double.MinPositiveValue))
  private var steps = 0

  override protected def leastNu: Double = 0.0

  override protected def localL2: Double = if (l2 > 0.0) l2 else 1.0

  override protected def gradients: Boolean = true

  override protected def intercept: Double = current

  override def sigmaPrime: Double = 1.0

  override def points: Array[Double] = Array.emptyDoubleArray

  /** Once per epoch. */
  override def certifies(round: Int, epochs: Double): Boolean = round % math.max(1, math.ceil(1.0 / epochs).toInt) == 0

  override def step(update: Array[Double], headers: ResultHeaders): (Double, Double) = {
    val kappa = headers.sum(CdLayout.KAPPA)
    centre(update, kappa)
    val share = headers.sum(CdLayout.COORDINATES) / numRows
    if (share == 1.0 && l2 > 0.0) raiseBound(update, kappa, headers.sum(CdLayout.VALUE_AFTER))
    if (overshot) overshot = false else move(update, kappa, share)
    Stay
  }

  /**
   * Judges the steps since the last certificate. If the objective rose, it takes them back, and drops the gradients of
   * this round.
   */
  override protected def certified(value: Double): Unit =
    if (value < upperBound) rate *= Grow
    else if (!(value <= upperBound * (1.0 + CdLeader.Rounding))) {
      rate *= Shrink
      current = returnToBest()
      overshot = true
    }

  private def move(update: Array[Double], kappa: Double, share: Double): Unit = {
    steps += 1
    val length = rate / math.sqrt(steps.toDouble)
    val factor = length * localL2 / share
    var j = 0
    while (j < n) {
      val scale = scaleOf(j)
      if (scale > 0.0) {
        w(j) =
          SoftThreshold(w(j) + factor * update(j), length * problem.penalty.l1 * math.sqrt(scale)) / (1.0 + length * l2)
      }
      j += 1
    }
    current += factor * nu * kappa
  }

  /** Nothing to do: the workers' dual variables stay at 0, so a loss of state changes nothing. */
  override def restart(product: Array[Double], headers: ResultHeaders, continues: Boolean): Unit = ()
}

private[solver] object MiniBatchGradient {

  private val Stay = (0.0, 0.0)

  /** Stands for the curvature bound of the hinge, which has none; it only decides where the rate starts. */
  private val SteepestCurvature = 1.0

  private val Grow = 1.5
  private val Shrink = 0.5
}
