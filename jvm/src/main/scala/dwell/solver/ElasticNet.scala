package dwell.solver

import dwell.data.ColumnPartition

/** Penalties of a partition's columns: g_i(a) = l1_i |a| + l2_i a^2 / 2, on the scale of each column. */
private[solver] final class ElasticNet(p: ColumnPartition, r: RoundRequest) {
  private val scaled = r.scaleFactor > 0.0
  private val scaledL1 = r.l1 * math.sqrt(r.scaleFactor)
  private val scaledL2 = r.l2 * r.scaleFactor

  def l1(i: Int): Double = if (scaled) scaledL1 * p.deviation(i) else r.l1

  def l2(i: Int): Double = if (scaled) scaledL2 * p.variance(i) else r.l2

  /** g_i(a). */
  def value(i: Int, a: Double): Double = l1(i) * math.abs(a) + 0.5 * (l2(i) * (a * a))

  /** Convex conjugate of g_i at x. */
  def conjugate(i: Int, x: Double): Double = {
    val excess = math.abs(x) - l1(i)
    if (l2(i) > 0.0) {
      val outside = if (excess > 0.0) excess else 0.0
      outside * outside / (2.0 * l2(i))
    } else if (math.abs(x) <= l1(i)) 0.0
    else Double.PositiveInfinity
  }

  /** Minimiser over a of q (a - current)^2 / 2 - x (a - current) + g_i(a). */
  def minimise(i: Int, q: Double, current: Double, x: Double): Double = {
    val curvature = q + l2(i)
    if (curvature > 0.0) ElasticNet.softThreshold(q * current + x, l1(i)) / curvature
    else if (l1(i) > 0.0) 0.0
    else current
  }
}

private[solver] object ElasticNet {

  def softThreshold(t: Double, threshold: Double): Double =
    if (t > threshold) t - threshold else if (t < -threshold) t + threshold else 0.0
}
