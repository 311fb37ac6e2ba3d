package dwell.solver.cd.contract

import dwell.solver.problem.MarginLoss

/**
 * What the leader of the primal form asks of the workers as owners of a slice of the rows: worker k of K owns slice k of
 * [[dwell.base.SliceBounds]].
 */
sealed trait RowsRequest extends Serializable

/** The requests. */
object RowsRequest {

  /** The labels and weights of the slice. The leader asks for them where it holds all margins itself. */
  case object Read extends RowsRequest

  /** Makes a [[MarginSlice]], which stays with the worker until the fit is freed. */
  final case class Begin(loss: MarginLoss, origin: Double) extends RowsRequest

  /** The slice of the shared vector becomes the margins. The last step is forgotten. */
  case object Restart extends RowsRequest

  /**
   * Runs an operation. The contribution has the residuals as its vector, if the operation writes them.
   *
   * @param takes
   *   whether the slice of the shared vector first becomes the update
   */
  final case class Run(loss: MarginLoss, intercept: Double, operation: MarginOperation, takes: Boolean)
      extends RowsRequest
}

/**
 * Answer to [[RowsRequest.Read]].
 *
 * @param labels
 *   as the data hold them
 * @param weights
 *   null if every weight is 1
 */
final case class RowsRead(labels: Array[Double], weights: Array[Double])
