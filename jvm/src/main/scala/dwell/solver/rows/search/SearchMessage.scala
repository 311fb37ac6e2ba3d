package dwell.solver.rows.search

import dwell.solver.pass.PassMessage

/** A message of the leader of L-BFGS to its workers. */
private[solver] sealed trait SearchMessage extends Serializable

private[solver] object SearchMessage {

  /** A pass at a model that comes with the message. */
  final case class Pass(pass: PassMessage) extends SearchMessage

  /**
   * A search begins, with each worker's slices of scales, factors, the first point and, with an intercept, means.
   *
   * @param total
   *   sum of the weights of all rows
   * @param memory
   *   corrections that are kept
   */
  private[rows] final case class BeginSearch(
      blocks: SearchBlocks,
      l1: Double,
      l2: Double,
      total: Double,
      intercept: Boolean,
      memory: Int,
      threads: Int)
      extends SearchMessage

  /** A step along the direction, and a pass at its model. */
  private[rows] final case class StepAlong(step: Double, pass: PassMessage) extends SearchMessage

  /** See [[SearchSlice]]. */
  private[rows] final case class Accept(moved: Boolean) extends SearchMessage

  /** See [[SearchSlice]]. */
  private[rows] final case class Turn(factor: Double, factors: Array[Double]) extends SearchMessage
}

/**
 * A worker's answer, beside its vector.
 *
 * @param sums
 *   by block of its slice
 * @param intercepts
 *   after a step: the derivative of the sum of all losses by each intercept
 * @param model
 *   after a step: the model, of the leader alone
 */
private[solver] final case class SearchAnswer(
    sums: Array[Double],
    intercepts: Array[Double] = Array.emptyDoubleArray,
    model: Array[Byte] = Array.emptyByteArray)
