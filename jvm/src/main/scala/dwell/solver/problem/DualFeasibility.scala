package dwell.solver.problem

/**
 * How dual variables a_i are made feasible. An intercept without a penalty puts a condition on them, `sum_i s_i a_i = 0` for each
 * output, which steps on single rows do not keep. A certificate needs a point that satisfies it.
 *
 * @param numbers
 *   numbers that describe the correction to the workers
 */
sealed abstract class DualFeasibility(val numbers: Int) extends Serializable

object DualFeasibility {

  /** Their weighted mean, delta, is taken from all of them: for a conjugate that is finite everywhere. One number: delta. */
  case object Shift extends DualFeasibility(1)

  /** Those of the heavier class shrink. Two numbers: the factors of the classes -1 and 1, each 0 to 1. */
  case object ShrinkClass extends DualFeasibility(2)

  /**
   * Predicted probabilities are mixed with others, so that the sums of each class's probabilities over the rows become its
   * weight. C + 1 numbers: the share of the others, then the probability of each class in them, each 0 to 1.
   */
  final case class MixClasses(classes: Int) extends DualFeasibility(classes + 1)
}
