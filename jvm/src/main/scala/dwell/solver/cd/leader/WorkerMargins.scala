package dwell.solver.cd.leader

import dwell.comm.{Gathered, Replies, SlicedWorkers, Workers}
import dwell.jni.MarginLayout
import dwell.solver.cd.contract.{CdMessage, CdReply, MarginOperation, RowsMessage, RowsRequest}
import dwell.solver.problem.MarginLoss

/**
 * The margins of all rows, of which each worker holds its slice. Only sums come to the leader.
 *
 * @param message
 *   wraps a request
 * @param origin
 *   see [[dwell.solver.cd.contract.MarginSlice.of]]
 */
private[leader] final class WorkerMargins(
    workers: SlicedWorkers[CdMessage, CdReply],
    message: RowsRequest => RowsMessage,
    loss: MarginLoss,
    origin: Double,
    description: String)
    extends Margins {

  private var takes = false
  private var since = Waited(0.0, 0.0)

  ask(RowsRequest.Begin(loss, origin))

  /** The workers take their slices with the next operation. */
  override def take(update: Array[Double]): Unit = takes = true

  override def restart(product: Array[Double]): Unit = {
    ask(RowsRequest.Restart)
    ()
  }

  override def residuals(intercept: Double): Array[Byte] = {
    timed(workers.gatherSlices(request(intercept, MarginOperation(MarginLayout.RESIDUALS)), description))
    Array.emptyByteArray
  }

  override protected def run(intercept: Double, operation: MarginOperation): Array[Double] =
    Margins.total(timed(workers.askSlices(request(intercept, operation), description)).scalars.map(_.sums))

  override def waited(): Waited = {
    val result = since
    since = Waited(0.0, 0.0)
    result
  }

  private def timed(replies: => Replies[CdReply]): Replies[CdReply] = {
    val start = System.nanoTime()
    val result = replies
    val slowest = result.scalars.map(_.seconds).max
    since = Waited(since.seconds + (System.nanoTime() - start) * 1e-9, since.workerSeconds + slowest)
    result
  }

  private def ask(asked: RowsRequest): Replies[CdReply] = workers.askSlices(message(asked), description)

  private def request(intercept: Double, operation: MarginOperation): RowsMessage = {
    val asked = RowsRequest.Run(loss, intercept, operation, takes)
    takes = false
    message(asked)
  }
}

/** The workers, as the leader asks them for coordinate steps while they own the rows: no vector comes with the answers. */
private[leader] final class OwnersOfRows(workers: SlicedWorkers[CdMessage, CdReply])
    extends Workers[CdMessage, CdReply] {

  override def exchange(message: CdMessage, shared: Array[Byte], description: String): Gathered[CdReply] = {
    val replies = workers.reduceScatter(message, description)
    Gathered(null, replies.headers, replies.scalars, replies.addSeconds)
  }
}
