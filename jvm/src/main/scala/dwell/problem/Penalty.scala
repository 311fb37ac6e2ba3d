package dwell.problem

/**
 * The penalty of a linear model on its coefficients a,
 *
 * {{{
 *   sum_j [ l1 u_j |a_j| + l2 u_j^2 a_j^2 / 2 ]
 * }}}
 *
 * @param scaleFactor
 *   0: u_j = 1. Otherwise u_j^2 is the population variance of feature j times this factor: 1, or the factor that gives
 *   the sample variance
 */
final case class Penalty(l1: Double, l2: Double, scaleFactor: Double = 0.0) {

  /** Whether there is none. */
  def isNone: Boolean = l1 == 0.0 && l2 == 0.0

  /** The penalty of an objective that is divided by `divisor`. */
  def over(divisor: Double): Penalty = copy(l1 / divisor, l2 / divisor)
}

object Penalty {

  /** The elastic net of Spark's Params, without scales of features. */
  def of(regParam: Double, elasticNet: Double = 0.0): Penalty =
    Penalty(regParam * elasticNet, regParam * (1.0 - elasticNet))
}
