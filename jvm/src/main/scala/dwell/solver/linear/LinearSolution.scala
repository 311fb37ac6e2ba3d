package dwell.solver.linear

import dwell.data.TrainingRows
import dwell.fit.Timeline
import dwell.record.FitFacts

/**
 * A trained model and its certificate.
 *
 * @param coefficients
 *   the coefficient of feature j and output c at j C + c; C is 1, or the number of classes with the softmax loss
 * @param intercepts
 *   one for each output
 * @param facts
 *   what is known of the fit so far; `objective` is F of the coefficients
 * @param inverseDiagonal
 *   of the squared loss without L1 penalty: the diagonal of the inverse of `A^T W A` and the L2 penalty, for coefficients and
 *   intercept, as Spark's `normal` solver defines it; None where it does not exist or was not found
 * @param first
 *   the sums of Newton's first pass, where fits with other penalties need no other
 * @param scale
 *   the scale of the errors, where the loss has one
 * @param unbounded
 *   whether there is no best model, because better ones have ever larger coefficients
 * @param stalled
 *   whether the method cannot find the optimum, and another one has to
 */
final case class LinearSolution(
    coefficients: Array[Double],
    intercepts: Array[Double],
    facts: FitFacts,
    inverseDiagonal: Option[Array[Double]] = None,
    first: Option[FirstPass] = None,
    scale: Option[Double] = None,
    unbounded: Boolean = false,
    stalled: Boolean = false) {

  /** The intercept of a model with one output. */
  def intercept: Double = intercepts.head
}

object LinearSolution {

  /** The model of data whose labels are all the same, whose loss is 0, or goes to 0 with an intercept that grows. */
  def known(
      coefficients: Array[Double],
      intercepts: Array[Double],
      data: TrainingRows,
      tolerance: Double): LinearSolution = {
    val timeline = new Timeline(_ => ())
    timeline.begin(objective = 0.0, gap = 0.0)
    LinearSolution(
      coefficients,
      intercepts,
      FitFacts(
        algorithm = "none",
        orientationReason = "all labels are the same",
        rounds = timeline.records,
        objective = 0.0,
        dual = 0.0,
        tolerance = tolerance,
        converged = true,
        numRows = data.numRows,
        numFeatures = data.vectorLength,
        nonzeros = data.nonzeros))
  }
}
