package dwell.solver.newton.leader

import dwell.problem.{LabelFacts, Loss}
import dwell.solver.linear.{FirstPass, LinearProblem}

/**
 * A linear problem for Newton's method.
 *
 * @param facts
 *   what is known of the rows
 * @param first
 *   the sums of the first pass, if an earlier fit has left them
 * @param scale
 *   the scale of the errors that an earlier fit has found, where the loss has one
 */
private[solver] final case class NewtonTask(
    problem: LinearProblem,
    loss: Loss,
    facts: NewtonFacts,
    first: Option[FirstPass],
    scale: Option[Double]) {

  private[leader] def shape: ModelShape =
    ModelShape(facts.numFeatures, problem.intercept, loss.epsilon.nonEmpty, loss.outputs)
}

/**
 * What is known of the rows before the first pass.
 *
 * @param centre
 *   about the mean of each feature
 * @param constant
 *   features that have one value in all rows
 */
private[solver] final case class NewtonFacts(
    numRows: Long,
    centre: Array[Double],
    constant: Array[Int],
    labels: LabelFacts) {

  /** The number of features, p. */
  def numFeatures: Int = centre.length
}
