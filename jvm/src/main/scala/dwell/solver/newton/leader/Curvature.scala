package dwell.solver.newton.leader

/**
 * The Hessian that the leader works with, M with the L2 penalty, and how far the model has moved since.
 *
 * @param vector
 *   the vector of a pass with the Hessian, of the model where it was taken
 * @param norm
 *   a bound of the largest norm of a row in M; infinite where none is known
 */
private[newton] final class Curvature(val vector: Array[Double], private var norm: Double = Double.PositiveInfinity) {

  /** The norm of each unit vector in the inverse of M; empty until it is known. */
  var unitNorms: Array[Double] = Array.emptyDoubleArray

  /** A bound of the length of all steps since, in the norm of M. */
  private var moved = 0.0

  /** Whether the largest norm of a row is known. */
  def knowsNorm: Boolean = !norm.isInfinite

  /** Whether it is the Hessian of that pass. */
  def isOf(pass: Array[Double]): Boolean = vector eq pass

  /** Whether it is the Hessian of the model as it is. */
  def isFresh: Boolean = moved == 0.0

  /**
   * Takes note of a step.
   *
   * @param length
   *   its length in the norm of M
   * @param reach
   *   the largest norm of a row by `unitNorms`, as the pass after the step has found it; 0 if it did not look
   */
  def move(length: Double, reach: Double): Unit = {
    moved += length
    if (reach > 0.0) norm = math.min(norm, reach)
  }

  /** The Hessian of the model after the steps. */
  def replaced(vector: Array[Double]): Curvature = new Curvature(vector, norm * stretch)

  /** The factor by which norms in the inverse of M may have grown: M falls by at most exp(-r |v|) along a step v. */
  private def stretch: Double = if (moved == 0.0) 1.0 else math.exp(0.5 * norm * moved)

  /**
   * F - F* is at most this.
   *
   * @param isQuadratic
   *   whether M never changes
   * @param rounding
   *   a bound of what rounding has changed of the slope, in the norm of the inverse of M
   */
  def gapOf(step: QuadraticStep, isQuadratic: Boolean, rounding: Double): Double = {
    val rest =
      if (isQuadratic) 0.5 * (step.slope + rounding) * (step.slope + rounding)
      else if (!knowsNorm) Double.PositiveInfinity
      else {
        val (slope, reach) = (step.slope * stretch, norm * stretch)
        val q = reach * slope
        if (q < Curvature.SmallQ) 0.5 * slope * slope * (1.0 + q)
        else if (q < 1.0) (q + (1.0 - q) * math.log1p(-q)) / (reach * reach)
        else Double.PositiveInfinity
      }
    rest - math.min(0.0, step.offset)
  }
}

private object Curvature {

  /** Below it, the bracket of the certificate would lose its digits; q / 3 more than half the square is above it. */
  private val SmallQ = 1e-3
}
