package dwell.solver.cd.worker

import dwell.problem.MarginLoss

/**
 * What the leader of the primal form asks of the workers as owners of a slice of the rows: worker k of K owns slice k of
 * [[dwell.base.SliceBounds]].
 */
sealed trait RowsRequest extends Serializable

/** The requests. */
object RowsRequest {

  /** The labels and weights of the slice. The leader asks for them where it holds all margins itself. */
  case object Read extends RowsRequest

  /**
   * Makes a [[MarginSlice]] with the slice of the shared vector as its margins. It stays with the worker until the fit
   * is freed, or another takes its place.
   *
   * @param number
   *   of this request
   */
  final case class Start(number: Long, loss: MarginLoss, origin: Double) extends RowsRequest

  /**
   * Runs an operation. The contribution has the residuals as its vector, if the operation writes them. A worker that has
   * run this request before gives the same answer again. A worker without the slice of the request before this one has
   * lost it.
   *
   * @param number
   *   number of this request, one more than the number of the request before it
   * @param takes
   *   whether the slice of the shared vector first becomes the update
   */
  final case class Run(number: Long, loss: MarginLoss, intercept: Double, operation: MarginOperation, takes: Boolean)
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
