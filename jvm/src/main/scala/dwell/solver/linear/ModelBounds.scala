package dwell.solver.linear

/**
 * Bounds of a model, laid out as in [[LinearSolution]]; infinite where there is none.
 *
 * @param lower
 *   least coefficients
 * @param upper
 *   largest coefficients
 */
final case class ModelBounds(
    lower: Array[Double],
    upper: Array[Double],
    lowerIntercepts: Array[Double],
    upperIntercepts: Array[Double]) {

  /** Whether an intercept has a bound. */
  def holdIntercepts: Boolean = (lowerIntercepts ++ upperIntercepts).exists(!_.isInfinite)

  /** Whether one of some numbers of a model, coefficients and then intercepts, has a bound. */
  def hold(numbers: Range): Boolean =
    numbers.exists { i =>
      val j = i - lower.length
      if (j < 0) !lower(i).isInfinite || !upper(i).isInfinite
      else !lowerIntercepts(j).isInfinite || !upperIntercepts(j).isInfinite
    }

  /** Whether no lower bound is above the upper one. */
  def areOrdered: Boolean =
    (lower ++ lowerIntercepts).zip(upper ++ upperIntercepts).forall { case (least, most) => least <= most }
}
