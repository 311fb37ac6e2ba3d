package dwell.solver.newton.worker

import dwell.problem.Loss

/**
 * The message of a pass of Newton's method, with all its vectors. A row has n entries: its p features less their centre and, with an
 * intercept, 1; one more if the loss has a scale. A model has n numbers for each output of the loss, one output after the other.
 *
 * @param centre
 *   p numbers
 * @param model
 *   for each output: coefficients, then the intercept of centred features, then the scale
 * @param sums
 *   what the pass sums beside the losses
 * @param direction
 *   as many numbers, or none: the direction of a line through the model
 * @param steps
 *   where on the line the losses are summed, too
 * @param threads
 *   threads that one task may use
 * @param reach
 *   as many numbers, or none: a bound of the norm of each unit vector, see [[dwell.solver.newton.leader.Newton]]
 */
private[solver] final case class PassMessage(
    loss: Loss,
    intercept: Boolean,
    centre: Array[Double],
    model: Array[Double],
    sums: PassSums,
    threads: Int,
    direction: Array[Double] = Array.emptyDoubleArray,
    steps: Array[Double] = Array.emptyDoubleArray,
    reach: Array[Double] = Array.emptyDoubleArray)

/**
 * What a pass sums beside the losses.
 *
 * @param hessian
 *   0: no Hessian; otherwise it takes one in so many chunks of rows
 * @param majorise
 *   whether rows where a loss with a scale is linear count in the Hessian by the parabola above it
 */
private[solver] final case class PassSums(
    gradient: Boolean,
    hessian: Int,
    moments: Boolean,
    majorise: Boolean = false) {

  /** Whether there is a vector. */
  def any: Boolean = gradient || hessian > 0 || moments
}

private[solver] object PassSums {
  val Nothing: PassSums = PassSums(gradient = false, hessian = 0, moments = false)
}
