package dwell.solver.newton.leader

import dwell.solver.linear.ModelBounds

/**
 * Least and largest values of the variables of a model.
 *
 * @param lower
 *   minus infinity where there is none
 * @param upper
 *   infinity where there is none
 */
private[newton] final case class Box(lower: Array[Double], upper: Array[Double]) {

  /** The nearest value of a variable within the box. */
  def clip(variable: Int, x: Double): Double = math.max(lower(variable), math.min(upper(variable), x))
}

private[newton] object Box {

  /** The box of a model without bounds, or with the user's. */
  def of(bounds: Option[ModelBounds], shape: ModelShape): Box =
    bounds.fold(Box(filled(shape, Double.NegativeInfinity), filled(shape, Double.PositiveInfinity))) { b =>
      Box(ofModel(b.lower, b.lowerIntercepts, shape), ofModel(b.upper, b.upperIntercepts, shape))
    }

  private def filled(shape: ModelShape, bound: Double): Array[Double] = Array.fill(shape.variables)(bound)

  private def ofModel(coefficients: Array[Double], intercepts: Array[Double], shape: ModelShape): Array[Double] =
    Array.tabulate(shape.variables) { variable =>
      val (c, j) = (variable / shape.perOutput, variable % shape.perOutput)
      if (j == shape.features) intercepts(c) else coefficients(j * shape.outputs + c)
    }
}
