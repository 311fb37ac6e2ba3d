package dwell.solver.pass

import dwell.jni.{NativeBridge, PassLayout, ResultHeader}
import dwell.problem.Loss

/**
 * The message of a pass over all rows, with all its vectors but the model, which goes with it. A row has n entries: its p features less
 * their centre and, with an intercept, 1; one more if the loss has a scale. A model has n numbers for each output of the loss, one output
 * after the other, little endian: coefficients, then the intercept of centred features, then the scale.
 *
 * @param features
 *   p
 * @param centre
 *   p numbers, or none for rows as they are
 * @param entries
 *   of the vector of each pass of the fit; what a pass does not sum is 0
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
 * @param dual
 *   numbers that make the dual variables feasible for the whole problem, or none for losses and their derivatives. By loss: - squared:
 *   delta, which is subtracted from the residuals, a = (y - z) - delta - another loss of one output: f_neg and f_pos in 0 to 1,
 *   a = y f_y p with p = -y dl/dz - softmax: eps in 0 to 1, a probability r_c of each class, and k in 0 to 1,
 *   a_c = k ([c = y] - ((1 - eps) q_c + eps r_c)) with the predicted probabilities q
 * @param remainders
 *   for each feature that a combination of features replaces its number, and n weights of a row's entries; or none
 * @param earlier
 *   for a proximal pass, with the smoothed hinge: models in the form of the model, each with its gamma. They shift the corner for each row, see
 *   [[dwell.solver.newton.leader.ProximalHinge]]
 */
private[solver] final case class PassMessage(
    loss: Loss,
    intercept: Boolean,
    features: Int,
    centre: Array[Double],
    entries: Int,
    sums: PassSums,
    threads: Int,
    direction: Array[Double] = Array.emptyDoubleArray,
    steps: Array[Double] = Array.emptyDoubleArray,
    reach: Array[Double] = Array.emptyDoubleArray,
    dual: Array[Double] = Array.emptyDoubleArray,
    remainders: Array[Double] = Array.emptyDoubleArray,
    earlier: Option[Array[Double]] = None)
    extends NativePass {

  private[pass] override def length: Int = if (sums.any) ResultHeader.length(entries) else ResultHeader.BYTES

  private[pass] override def room: Long = if (sums.hessian) NativePass.InOrder else NativePass.InAnyOrder

  private[pass] override def begin(model: Array[Byte]): Long =
    NativeBridge.passBegin(
      PassLayout.control(loss.code, loss.outputs, flags, loss.parameter, features),
      centre,
      model,
      direction,
      steps,
      reach,
      dual,
      remainders,
      earlier.getOrElse(Array.emptyDoubleArray))

  private def flags: Long =
    Seq(
      intercept -> NativeBridge.PASS_INTERCEPT,
      sums.gradient -> NativeBridge.PASS_GRADIENT,
      sums.moments -> NativeBridge.PASS_MOMENTS,
      sums.hessian -> NativeBridge.PASS_HESSIAN,
      sums.majorise -> NativeBridge.PASS_MAJORISE,
      earlier.nonEmpty -> NativeBridge.PASS_PROXIMAL).collect { case (true, flag) => flag }.sum
}

/**
 * What a pass sums beside the losses.
 *
 * @param majorise
 *   whether rows where a loss with a scale is linear count in the Hessian by the parabola above it
 */
private[solver] final case class PassSums(
    gradient: Boolean,
    hessian: Boolean,
    moments: Boolean,
    majorise: Boolean = false) {

  /** Whether there is a vector. */
  private[pass] def any: Boolean = gradient || hessian || moments
}

private[solver] object PassSums {
  val Nothing: PassSums = PassSums(gradient = false, hessian = false, moments = false)
  val Gradient: PassSums = PassSums(gradient = true, hessian = false, moments = false)
}
