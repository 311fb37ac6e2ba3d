package dwell.solver.newton.leader

import dwell.problem.Loss

/**
 * Which rows the next pass takes for the Hessian. Where a Hessian is far dearer than a gradient, a part of the rows serves until the
 * model is near the optimum, and then one Hessian of all rows serves for several passes: the gradient is always exact, so the
 * optimum is the same (Roosta-Khorasani and Mahoney, "Sub-sampled Newton methods", Mathematical Programming 174, 2019).
 *
 * @param every
 *   one in so many chunks of rows; 1 for all of them, 0 to keep the last Hessian
 */
private[solver] final case class HessianSampling private (every: Int, part: Int) {
  import HessianSampling._

  /** Whether the pass takes all rows. */
  def isExact: Boolean = every == 1

  /** All rows from the next pass on. */
  def exact: HessianSampling = copy(every = 1)

  /**
   * The rows of the pass after one.
   *
   * @param left
   *   what a step would gain, by the objective
   * @param contraction
   *   the same by what the last step would have gained
   */
  def next(left: Double, contraction: Double): HessianSampling =
    if (part == 1) this
    else if (left > Near) if (contraction > Stuck) exact else copy(every = part)
    else if (every > 1 || contraction > Slow) exact
    else copy(every = 0)
}

private[solver] object HessianSampling {

  /** From here on one step by the Hessian of all rows, and the next one by the same, prove the optimum. */
  private val Near = 1e-6

  /** Steps that leave more than this wait for a better Hessian; far from the optimum no Hessian leaves little. */
  private val Slow = 0.3
  private val Stuck = 0.8

  /** Rows for each coefficient that make a Hessian good enough for steps far from the optimum. */
  private val RowsForEach = 40L

  private val Most = 16L

  /** A product of a row with itself takes so many times what the gradient does before it pays to leave rows out. */
  private val Dear = 24L

  /** Products of so few features take as long as with so many. */
  private val Narrow = 32

  /** The first pass of a task. */
  private[leader] def of(task: NewtonTask): HessianSampling = {
    val part = partOf(task.loss, task.facts.numRows, task.facts.numFeatures)
    HessianSampling(part, part)
  }

  /** How many Hessians of all rows a fit of so many passes is forecast to take. */
  def hessians(loss: Loss, numRows: Long, numFeatures: Int, passes: Double): Double = {
    val part = partOf(loss, numRows, numFeatures)
    if (part == 1) passes else passes / part + HessiansOfAll
  }

  /** Pairs of outputs whose curvature a pass sums: those of the last one follow from the others. */
  def pairs(loss: Loss): Long = math.max(1L, loss.outputs * (loss.outputs - 1L) / 2)

  private def partOf(loss: Loss, numRows: Long, numFeatures: Int): Int = {
    // The certificate of a loss with a scale takes the Hessian of each pass. A gradient takes 2 C n operations for a row, and the Hessian n^2 / 2 for each pair of outputs.
    val dear =
      pairs(loss) * math.max(Narrow, numFeatures) / (4L * loss.outputs) >= Dear && !loss.selfConcordance.contains(
        0.0) && loss.epsilon.isEmpty
    val enough = RowsForEach * math.max(1L, loss.outputs.toLong * numFeatures)
    if (dear) math.max(1L, math.min(Most, numRows / enough)).toInt else 1
  }

  private val HessiansOfAll = 2.0
}
