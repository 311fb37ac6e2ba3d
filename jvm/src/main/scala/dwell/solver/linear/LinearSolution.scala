package dwell.solver.linear

import dwell.problem.Orientation
import dwell.record.{HeldBytes, RoundRecord}

/**
 * A trained model and its certificate.
 *
 * @param coefficients
 *   the coefficient of feature j and output c at j C + c; C is 1, or the number of classes with the softmax loss
 * @param intercepts
 *   one for each output
 * @param objective
 *   F of the coefficients
 * @param dual
 *   lower bound of F over all models; NaN if the algorithm gives none
 * @param gap
 *   objective - dual
 * @param drift
 *   largest relative difference between a value that the rounds carried along and the same value computed anew
 * @param algorithm
 *   name of the algorithm, or of those that followed one another
 * @param handover
 *   why L-BFGS went on where coordinate descent had ended; empty if it did not
 * @param orientationReason
 *   why this orientation was chosen
 * @param aggregation
 *   the mode that was used
 * @param aggregationReason
 *   why this mode was used
 * @param restarts
 *   times that the rounds began again after a failed barrier stage, from what was left with the workers
 * @param placement
 *   how the data came to their partitions, and why
 * @param held
 *   the bytes of the training data
 * @param flattenSeconds
 *   time spent on bringing the data into the form of this orientation; 0 if an earlier fit had done so
 */
final case class LinearSolution(
    coefficients: Array[Double],
    intercepts: Array[Double],
    objective: Double,
    dual: Double,
    gap: Double,
    converged: Boolean,
    drift: Double,
    algorithm: String,
    handover: String,
    orientation: Orientation,
    orientationReason: String,
    aggregation: String,
    aggregationReason: String,
    restarts: Int,
    rounds: Seq[RoundRecord],
    nonzerosPerPartition: Seq[Long],
    placement: String,
    held: HeldBytes,
    flattenSeconds: Double) {

  /** The intercept of a model with one output. */
  def intercept: Double = intercepts.head
}
