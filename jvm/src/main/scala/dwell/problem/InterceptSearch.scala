package dwell.problem

/** The exact minimiser of a mean loss over the intercept. */
private[dwell] object InterceptSearch {

  /**
   * The sum over rows of the first derivatives by the intercept, of their absolute values, and of the second
   * derivatives.
   */
  final case class Slope(slope: Double, size: Double, curve: Double)

  /**
   * The shift of all margins that minimises `sum_j s_j loss(z_j + shift; y_j)` for a smooth loss with labels of both
   * signs. Newton's method finds the root of the derivative, which rises with the shift, inside a bracket.
   *
   * @param slopeAt
   *   the derivatives at a shift
   */
  def minimise(slopeAt: Double => Slope): Double = {
    var low = Double.NegativeInfinity
    var high = Double.PositiveInfinity
    var shift = 0.0
    var iteration = 0
    var searching = true
    while (searching && iteration < MaxIterations) {
      val Slope(slope, size, curve) = slopeAt(shift)
      if (math.abs(slope) <= Balanced * size) searching = false
      else {
        if (slope > 0.0) high = shift else low = shift
        val newton = if (curve > 0.0) shift - slope / curve else Double.NaN
        val next =
          if (newton > low && newton < high) newton
          else if (low.isInfinite) high - widen(iteration)
          else if (high.isInfinite) low + widen(iteration)
          else (low + high) / 2.0
        searching = next != shift
        shift = next
      }
      iteration += 1
    }
    shift
  }

  private def widen(iteration: Int): Double = math.pow(2.0, iteration.toDouble)

  private val MaxIterations = 100

  /** The sum of the derivatives relative to the sum of their absolute values. Below this it is rounding error. */
  private val Balanced = 1e-13
}
