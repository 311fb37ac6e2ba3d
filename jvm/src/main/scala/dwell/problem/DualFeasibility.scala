package dwell.problem

/**
 * How dual variables a_i are made feasible. An intercept without a penalty requires `sum_i s_i a_i = 0` for each
 * output. Steps on single rows break this condition, and a certificate needs a point that satisfies it.
 *
 * @param numbers
 *   how many numbers describe the correction to the workers
 */
sealed abstract class DualFeasibility(val numbers: Int) extends Serializable

/** The corrections, one for each kind of loss. */
object DualFeasibility {

  /**
   * Subtracts their weighted mean, delta, from all of them. The conjugate must be finite everywhere. One number: delta.
   */
  case object Shift extends DualFeasibility(1)

  /**
   * Shrinks the variables of the heavier class. Two numbers: the factors of the classes -1 and 1, each 0 to 1.
   *
   * @param conjugateOfOne
   *   the conjugate of a dual variable with y a = 1
   */
  final case class ShrinkClass(conjugateOfOne: Double) extends DualFeasibility(2)

  /**
   * Mixes the predicted probabilities with fixed ones, so that the probabilities of each class sum to its weight over
   * the rows. C + 1 numbers: the share of the fixed ones, then the fixed probability of each class, each 0 to 1.
   */
  final case class MixClasses(classes: Int) extends DualFeasibility(classes + 1)
}
