package dwell.problem

/**
 * How dual variables a_i are made feasible. An intercept without a penalty requires `sum_i s_i a_i = 0` for each
 * output. Steps on single rows break this condition, and a certificate needs a point that satisfies it.
 *
 * @param numbers
 *   how many numbers describe the correction to the workers
 */
sealed abstract class DualFeasibility(val numbers: Int) extends Serializable {

  /** The numbers of dual variables that are all smaller by a factor of 0 to 1; None where no numbers give these. */
  def shrunk(numbers: Array[Double], factor: Double): Option[Array[Double]]
}

/** The corrections, one for each kind of loss. */
object DualFeasibility {

  /**
   * Subtracts their weighted mean, delta, from all of them. The conjugate must be finite everywhere. One number: delta.
   */
  case object Shift extends DualFeasibility(1) {
    override def shrunk(numbers: Array[Double], factor: Double): Option[Array[Double]] = None
  }

  /**
   * Shrinks the variables of the heavier class. Two numbers: the factors of the classes -1 and 1, each 0 to 1.
   *
   * @param conjugateOfOne
   *   the conjugate of a dual variable with y a = 1
   */
  final case class ShrinkClass(conjugateOfOne: Double) extends DualFeasibility(2) {
    override def shrunk(numbers: Array[Double], factor: Double): Option[Array[Double]] = Some(numbers.map(_ * factor))
  }

  /**
   * Mixes the predicted probabilities with fixed ones, so that the probabilities of each class sum to its weight over
   * the rows, and shrinks the variables. C + 2 numbers, each 0 to 1: the share of the fixed ones, the fixed probability of each class, and
   * the factor.
   */
  final case class MixClasses(classes: Int) extends DualFeasibility(classes + 2) {
    override def shrunk(numbers: Array[Double], factor: Double): Option[Array[Double]] =
      Some(numbers.init :+ numbers.last * factor)
  }
}
