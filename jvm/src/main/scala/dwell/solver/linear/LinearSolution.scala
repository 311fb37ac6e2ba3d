package dwell.solver.linear

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
 */
final case class LinearSolution(coefficients: Array[Double], intercepts: Array[Double], facts: FitFacts) {

  /** The intercept of a model with one output. */
  def intercept: Double = intercepts.head
}
