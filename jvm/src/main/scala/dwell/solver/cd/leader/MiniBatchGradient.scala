package dwell.solver.cd.leader

import dwell.jni.CdLayout
import dwell.base.{SoftThreshold}
import dwell.data.rows.RowSummary
import dwell.fit.ResultHeaders
import dwell.solver.problem.{LabelFacts, LinearProblem, MarginLoss}

/**
 * Mini-batch SGD as Spark's `GradientDescent` does it: in every round the workers take the gradients of their next rows at
 * the same coefficients, and the driver makes one proximal step of length `rate / sqrt(t)`,
 *
 * {{{
 *   v <- soft(v - step g, step l1) / (1 + step l2),   v = u coefficient: the units in which all features have one penalty
 * }}}
 *
 * (`u` is the root of one over `scale`). The rows of a batch are drawn without replacement, and their gradients weigh as if
 * they were all rows. The intercept has no penalty.
 *
 * The rate is tuned as a user would: it starts where a step cannot overshoot, grows while the objective falls from one
 * certificate to the next, and is halved where it rose, from the best model so far on.
 *
 * The derivatives of all rows are dual variables. Where a batch is a whole epoch they give a lower bound, as in
 * [[DualLeader]]; without an L2 penalty there is none but 0.
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

  /** Of centred features, as everywhere in this orientation. */
  private var current = interceptAlone
  private var overshot = false

  private var rate =
    1.0 / (math.min(loss.curvature, SteepestCurvature) * math.max(data.meanSquareNorm + nu, Double.MinPositiveValue))
  private var steps = 0

  override protected def leastNu: Double = 0.0

  override protected def strength: Double = if (l2 > 0.0) l2 else 1.0

  override protected def gradients: Boolean = true

  override protected def intercept: Double = current

  override def sigmaPrime: Double = 1.0

  override def points: Array[Double] = Array.emptyDoubleArray

  /** Once in an epoch. */
  override def certifies(round: Int, epochs: Double): Boolean = round % math.max(1, math.ceil(1.0 / epochs).toInt) == 0

  override def step(update: Array[Double], headers: ResultHeaders): (Double, Double) = {
    val kappa = headers.sum(CdLayout.KAPPA)
    centre(update, kappa)
    val share = headers.sum(CdLayout.COORDINATES) / numRows
    if (share == 1.0 && l2 > 0.0) raiseBound(update, kappa, headers.sum(CdLayout.VALUE_AFTER))
    if (overshot) overshot = false else move(update, kappa, share)
    Stay
  }

  /** Judges the steps since the last certificate; where the objective rose they are taken back, and the gradients with them. */
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
    val factor = length * strength / share
    var j = 0
    while (j < n) {
      val scale = scaleOf(j)
      if (scale > 0.0) {
        w(j) = SoftThreshold(w(j) + factor * update(j), length * problem.l1 * math.sqrt(scale)) / (1.0 + length * l2)
      }
      j += 1
    }
    current += factor * nu * kappa
  }

  /** The workers' dual variables stay at 0, whatever is lost. */
  override def restart(product: Array[Double], headers: ResultHeaders, continues: Boolean): Unit = ()
}

private[solver] object MiniBatchGradient {

  private val Stay = (0.0, 0.0)

  /** The hinge has no curvature bound; this one only says where the rate starts. */
  private val SteepestCurvature = 1.0

  private val Grow = 1.5
  private val Shrink = 0.5
}
