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

  /** Whether no lower bound is above the upper one. */
  def areOrdered: Boolean =
    (lower ++ lowerIntercepts).zip(upper ++ upperIntercepts).forall { case (least, most) => least <= most }
}
