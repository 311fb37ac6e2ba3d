package dwell.solver.rows.worker

import dwell.comm.wire.Contribution
import dwell.data.{LocalData, RowData}
import dwell.data.rows.BlockData
import dwell.jni.{ResultHeader, SgdLayout}
import dwell.solver.pass.PassStep
import dwell.spark.{NativeLibrary, TaskCancellation}

/** The worker's part of an exchange. It runs in a task and keeps no state, so a second run gives the same result. */
private[solver] object SgdStep {

  /**
   * Runs the call of `message` on a partition.
   *
   * @param shared
   *   the model to start from, little endian
   * @throws IllegalArgumentException
   *   if the partition holds columns
   * @throws dwell.jni.NativeUnavailableException
   *   if the library cannot load
   */
  def apply(data: LocalData, message: SgdMessage, shared: Array[Byte]): Contribution[Unit] = data match {
    case rows: RowData => onRows(rows, message, shared)
    case _ => throw new IllegalArgumentException(s"partition ${data.index} holds columns, and gradients are of rows")
  }

  private def onRows(data: RowData, message: SgdMessage, shared: Array[Byte]): Contribution[Unit] = {
    NativeLibrary.require()
    message.call match {
      case c: DescendCall => descended(data, message, c, shared)
      case c: SearchCall => searched(data, message, c, shared)
      case PassCall(pass) => PassStep(BlockData.of(data.partition), pass, shared)
    }
  }

  private def descended(data: RowData, message: SgdMessage, c: DescendCall, shared: Array[Byte]): Contribution[Unit] = {
    val started = ResultHeader.now()
    val rows = data.partition.numRows
    val result = SgdLayout.allocate(data.partition.features, message.problem.loss.outputs)
    // A partition without rows adds nothing.
    if (rows > 0) {
      val k = data.index
      val budget = math.max(1L, math.ceil(c.epochs * rows).toLong)
      val r =
        Descend(message.fit, message.seed, message.problem, c.schedule, budget, c.cursors(k), c.steps(k), c.shares(k))
      TaskCancellation(NativeSgd.descend(data, r, shared, result, _))
    }
    ResultHeader.put(result, ResultHeader.STARTED, started)
    Contribution(result, (), SgdLayout.factors(result))
  }

  private def searched(data: RowData, message: SgdMessage, c: SearchCall, shared: Array[Byte]): Contribution[Unit] = {
    val started = ResultHeader.now()
    val result = new Array[Byte](ResultHeader.BYTES)
    // A partition without rows has no row to measure at.
    if (data.partition.numRows > 0) {
      val r =
        Search(message.fit, message.seed, message.problem, c.schedule, c.candidates, c.rows, cursor = 0L, steps = 0L)
      TaskCancellation(NativeSgd.search(data, r, shared, result, _))
    }
    ResultHeader.put(result, ResultHeader.STARTED, started)
    Contribution(result, ())
  }
}
