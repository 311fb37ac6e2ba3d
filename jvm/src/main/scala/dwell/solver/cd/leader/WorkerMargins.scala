package dwell.solver.cd.leader

import dwell.comm.{Gathered, ModelLostException, Replies, SlicedWorkers, Workers}
import dwell.jni.MarginLayout
import dwell.problem.MarginLoss
import dwell.solver.cd.worker.{CdMessage, CdReply, CoordinateMessage, MarginOperation, RowsMessage, RowsRequest}

/**
 * The margins of all rows, of which each worker holds its slice. Only sums come to the leader. All methods throw
 * [[dwell.comm.ModelLostException]] if a slice is gone with its executor; [[restart]] then makes it again.
 *
 * @param message
 *   wraps a request
 * @param origin
 *   see [[dwell.solver.cd.worker.MarginSlice.of]]
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
  private var number = 0L

  start()

  /** The workers take their slices with the next operation. */
  override def take(update: Array[Double]): Unit = takes = true

  override def restart(product: Array[Double]): Unit = {
    takes = false
    start()
  }

  private def start(): Unit = {
    timed(workers.askSlices(message(RowsRequest.Start(next(), loss, origin)), description))
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
    val lost = result.scalars.count(_.lost)
    if (lost > 0) throw new ModelLostException(s"$lost workers lost the margins of their rows")
    result
  }

  private def next(): Long = {
    number += 1
    number
  }

  private def request(intercept: Double, operation: MarginOperation): RowsMessage = {
    val asked = RowsRequest.Run(next(), loss, intercept, operation, takes)
    takes = false
    message(asked)
  }
}

/** The workers, as the leader asks them for coordinate steps while they own the rows: no vector comes with the answers. */
private[leader] final class OwnersOfRows(workers: SlicedWorkers[CdMessage, CdReply])
    extends Workers[CdMessage, CdReply] {

  override def exchange(message: CdMessage, shared: Array[Byte], description: String): Gathered[CdReply] = {
    val reads = message match {
      case coordinates: CoordinateMessage => coordinates.phase.reads
      case _: RowsMessage => false
    }
    val replies = workers.reduceScatter(message, reads, description)
    Gathered(null, replies.headers, replies.scalars, replies.addSeconds)
  }
}
