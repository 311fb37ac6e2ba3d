package dwell.solver.cd.jvm

import dwell.data.rows.RowPartition
import dwell.solver.cd.contract.DualSubproblem

/** Conjugates of the losses of a partition's rows: h_i(a) = s_i l*(-a; y_i) / S. */
private[solver] final class Conjugates(p: RowPartition, problem: DualSubproblem, totalWeight: Double)
    extends Separable {
  private val loss = problem.loss
  private val divisor = totalWeight * problem.l2

  private def weight(i: Int): Double = if (p.weights == null) 1.0 else p.weights(i)

  /** s_i / S. */
  def share(i: Int): Double = weight(i) / totalWeight

  /** s_i / (S l2): the multiple of x_i that a dual variable of 1 adds to the coefficients. */
  def t(i: Int): Double = weight(i) / divisor

  override def value(i: Int, a: Double): Double = share(i) * loss.conjugate(a, p.labels(i))

  override def slope(i: Int, a: Double): Double =
    share(i) * (loss.conjugateCurvature * a + loss.conjugateSlope(p.labels(i)))

  override def curvature(i: Int): Double = share(i) * loss.conjugateCurvature

  override def change(i: Int, a: Double, e: Double): Double =
    if (!loss.contains(a + e, p.labels(i))) Double.PositiveInfinity
    else share(i) * (loss.conjugateRest(a + e, p.labels(i)) - loss.conjugateRest(a, p.labels(i)))
}
