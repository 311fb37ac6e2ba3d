package dwell.solver.cd.jvm

import dwell.base.kernel.SoftThreshold
import dwell.data.columns.ColumnPartition
import dwell.solver.cd.contract.PrimalSubproblem

/** Penalties of a partition's columns: g_i(a) = l1_i |a| + l2_i a^2 / 2, on the scale of each column. */
private[solver] final class ElasticNet(p: ColumnPartition, problem: PrimalSubproblem) extends Separable {
  private val scaled = problem.scaleFactor > 0.0
  private val scaledL1 = problem.l1 * math.sqrt(problem.scaleFactor)
  private val scaledL2 = problem.l2 * problem.scaleFactor

  /** L1 penalty of column i. */
  def l1(i: Int): Double = if (scaled) scaledL1 * p.deviation(i) else problem.l1

  /** L2 penalty of column i. */
  def l2(i: Int): Double = if (scaled) scaledL2 * p.variance(i) else problem.l2

  override def value(i: Int, a: Double): Double = l1(i) * math.abs(a) + 0.5 * (l2(i) * (a * a))

  override def slope(i: Int, a: Double): Double = l2(i) * a

  override def curvature(i: Int): Double = l2(i)

  override def change(i: Int, a: Double, e: Double): Double = l1(i) * (math.abs(a + e) - math.abs(a))

  /** Convex conjugate of g_i at x. */
  def conjugate(i: Int, x: Double): Double = {
    val excess = math.abs(x) - l1(i)
    if (l2(i) > 0.0) {
      val outside = if (excess > 0.0) excess else 0.0
      outside * outside / (2.0 * l2(i))
    } else if (math.abs(x) <= l1(i)) 0.0
    else Double.PositiveInfinity
  }

  /** The minimiser over a of q (a - current)^2 / 2 - x (a - current) + g_i(a). */
  def minimise(i: Int, q: Double, current: Double, x: Double): Double = {
    val curvature = q + l2(i)
    if (curvature > 0.0) SoftThreshold(q * current + x, l1(i)) / curvature
    else if (l1(i) > 0.0) 0.0
    else current
  }
}
