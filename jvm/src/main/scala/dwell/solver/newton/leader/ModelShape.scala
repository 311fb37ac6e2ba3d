package dwell.solver.newton.leader

/**
 * The variables of a model: for each output its coefficients and then, with an intercept, the intercept of centred features; at last
 * the scale, if the loss has one.
 *
 * @param features
 *   p
 */
private[newton] final case class ModelShape(features: Int, hasIntercept: Boolean, hasScale: Boolean, outputs: Int) {

  /** Variables of an output beside its coefficients. */
  val more: Int = (if (hasIntercept) 1 else 0) + (if (hasScale) 1 else 0)

  /** Variables of an output, n. */
  val perOutput: Int = features + more

  /** All variables. */
  def variables: Int = outputs * perOutput

  /** The variable of an output's coefficient. */
  def at(output: Int, feature: Int): Int = output * perOutput + feature

  /** The variable of an output's intercept. */
  def intercept(output: Int): Int = at(output, features)

  /** The variable of the scale. */
  def scale: Int = variables - 1

  /** A number for each variable, by feature; `ofRest` for intercepts and the scale. */
  def tabulate(ofRest: Double)(ofFeature: Int => Double): Array[Double] =
    Array.tabulate(variables) { variable =>
      val j = variable % perOutput
      if (j >= features) ofRest else ofFeature(j)
    }

  /** The coefficients of a model, laid out as in [[dwell.solver.linear.LinearSolution]]. */
  def coefficients(model: Array[Double]): Array[Double] =
    Array.tabulate(features * outputs)(i => model(at(i % outputs, i / outputs)))

}
