package dwell.solver.newton.leader

/**
 * The variables of a model: for each output its coefficients and then, with an intercept, the intercept of centred features.
 *
 * @param features
 *   p
 */
private[newton] final case class ModelShape(features: Int, hasIntercept: Boolean, outputs: Int) {

  /** Variables of an output, n. */
  val perOutput: Int = if (hasIntercept) features + 1 else features

  /** All variables. */
  def variables: Int = outputs * perOutput

  /** The variable of an output's coefficient. */
  def at(output: Int, feature: Int): Int = output * perOutput + feature

  /** The variable of an output's intercept. */
  def intercept(output: Int): Int = at(output, features)

  /** A number for each variable, by feature; `ofIntercept` for the intercepts. */
  def tabulate(ofIntercept: Double)(ofFeature: Int => Double): Array[Double] =
    Array.tabulate(variables) { variable =>
      val j = variable % perOutput
      if (j == features) ofIntercept else ofFeature(j)
    }

  /** The coefficients of a model, laid out as in [[dwell.solver.linear.LinearSolution]]. */
  def coefficients(model: Array[Double]): Array[Double] =
    Array.tabulate(features * outputs)(i => model(at(i % outputs, i / outputs)))

}
