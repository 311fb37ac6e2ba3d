package dwell.solver.problem

/** The exact minimiser of a mean loss over the intercept. */
private[solver] object InterceptSearch {

  /**
   * The shift of all margins that minimises `sum_j s_j loss(z_j + shift; y_j)` for a smooth loss with labels of both
   * signs. Newton's method finds the root of the derivative, which rises with the shift, inside a bracket.
   *
   * @param derivative
   *   derivative of the loss by its first argument, the prediction; the second argument is the label
   * @param secondDerivative
   *   second derivative of the loss, with the same arguments
   * @param margins
   *   z, one for each row
   * @param labels
   *   y, one for each row
   * @param weights
   *   null where every weight is 1
   */
  def minimise(
      derivative: (Double, Double) => Double,
      secondDerivative: (Double, Double) => Double,
      margins: Array[Double],
      labels: Array[Double],
      weights: Array[Double]): Double = {
    var low = Double.NegativeInfinity
    var high = Double.PositiveInfinity
    var shift = 0.0
    var iteration = 0
    var searching = true
    while (searching && iteration < MaxIterations) {
      var slope, size, curve = 0.0
      var j = 0
      while (j < margins.length) {
        val weight = if (weights == null) 1.0 else weights(j)
        val z = margins(j) + shift
        val s = weight * derivative(z, labels(j))
        slope += s
        size += math.abs(s)
        curve += weight * secondDerivative(z, labels(j))
        j += 1
      }
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
