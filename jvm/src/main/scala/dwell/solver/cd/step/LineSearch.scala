package dwell.solver.cd.step

/**
 * The value, gradient (1, 2) and Hessian (11, 12, 22) of a convex function at a step (g1, g2) along two directions. The
 * value is relative to the one at (0, 0).
 */
private[solver] final case class StepValue(
    value: Double,
    slope1: Double,
    slope2: Double,
    curve11: Double,
    curve12: Double,
    curve22: Double) {

  def +(other: StepValue): StepValue = StepValue(
    value + other.value,
    slope1 + other.slope1,
    slope2 + other.slope2,
    curve11 + other.curve11,
    curve12 + other.curve12,
    curve22 + other.curve22)

  def /(divisor: Double): StepValue = StepValue(
    value / divisor,
    slope1 / divisor,
    slope2 / divisor,
    curve11 / divisor,
    curve12 / divisor,
    curve22 / divisor)
}

/** The objective along the new direction (g1) and the direction of the last step (g2). */
private[solver] trait StepFunction {

  /** The function at a step. */
  def apply(g1: Double, g2: Double): StepValue

  def +(other: StepFunction): StepFunction = (g1, g2) => this(g1, g2) + other(g1, g2)
}

private[solver] object StepFunction {

  /** The quadratic function with this gradient and Hessian at (0, 0), and the value 0 there. */
  def quadratic(slope1: Double, slope2: Double, curve11: Double, curve12: Double, curve22: Double): StepFunction =
    (g1, g2) => {
      val first = curve11 * g1 + curve12 * g2
      val second = curve12 * g1 + curve22 * g2
      StepValue(
        slope1 * g1 + slope2 * g2 + (first * g1 + second * g2) / 2.0,
        slope1 + first,
        slope2 + second,
        curve11,
        curve12,
        curve22)
    }
}

/**
 * A search for the step along two directions, by Newton's method with halving. If the two directions are nearly
 * parallel, it does not use the second one. It bounds the factors, because only a direction that consists of rounding
 * errors calls for larger ones.
 */
private[solver] object LineSearch {

  /** The step factors (g1, g2) that minimise a smooth convex function. */
  def minimise(f: StepFunction): (Double, Double) = {
    var g1, g2 = 0.0
    var here = f(0.0, 0.0)
    var iteration = 0
    var improving = true
    while (improving && iteration < MaxIterations) {
      val (d1, d2) = within(g1, g2, newton(here))
      val promised = -(here.slope1 * d1 + here.slope2 * d2)
      improving = promised > 0.0 && {
        var factor = 1.0
        var there = f(g1 + d1, g2 + d2)
        // A factor below about 2^-30 changes no double.
        while (!(there.value <= here.value - SufficientDecrease * factor * promised) && factor > Smallest) {
          factor *= 0.5
          there = f(g1 + factor * d1, g2 + factor * d2)
        }
        val decreased = there.value < here.value
        if (decreased) {
          g1 += factor * d1
          g2 += factor * d2
          here = there
        }
        decreased && promised > Negligible * math.abs(here.value)
      }
      iteration += 1
    }
    (g1, g2)
  }

  /** The largest part of the step that keeps both factors within their bounds. */
  private def within(g1: Double, g2: Double, step: (Double, Double)): (Double, Double) = {
    def share(g: Double, d: Double): Double =
      if (math.abs(g + d) <= Largest) 1.0 else (math.signum(d) * Largest - g) / d
    val factor = math.max(0.0, math.min(share(g1, step._1), share(g2, step._2)))
    (factor * step._1, factor * step._2)
  }

  private def newton(at: StepValue): (Double, Double) = {
    val determinant = at.curve11 * at.curve22 - at.curve12 * at.curve12
    if (determinant > Parallel * at.curve11 * at.curve22) {
      (
        -(at.curve22 * at.slope1 - at.curve12 * at.slope2) / determinant,
        -(at.curve11 * at.slope2 - at.curve12 * at.slope1) / determinant)
    } else if (at.curve11 > 0.0) (-at.slope1 / at.curve11, 0.0)
    else (0.0, 0.0)
  }

  private val MaxIterations = 30
  private val Largest = 10.0
  private val SufficientDecrease = 1e-4
  private val Smallest = 1e-9

  /** Newton's decrement relative to the decrease so far. Below this another step gains too little. */
  private val Negligible = 1e-10

  /**
   * Directions count as parallel if their determinant is smaller than this, relative to the product of the diagonal.
   */
  private val Parallel = 1e-14
}
