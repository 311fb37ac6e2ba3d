package dwell.solver.rows.worker

import dwell.comm.wire.Contribution
import dwell.data.{LocalData, RowData}
import dwell.jni.{ResultHeader, SgdLayout}
import dwell.solver.pass.PassStep
import dwell.spark.{NativeLibrary, TaskCancellation}

/** The worker's part of an exchange. It runs in a task and keeps no state, so a second run gives the same result. */
private[solver] object SgdStep {

  /**
   * Runs the call of `message` on the rows of a worker.
   *
   * @param shared
   *   the model to start from, little endian
   * @throws dwell.jni.NativeUnavailableException
   *   if the library cannot load
   */
  def apply(data: LocalData, message: SgdMessage, shared: Array[Byte]): Contribution[Unit] = {
    NativeLibrary.require()
    data match {
      case rows: RowData =>
        message.call match {
          case c: DescendCall => descended(rows, message, c, shared)
          case c: SearchCall => searched(rows, message, c, shared)
          case PassCall(pass) => PassStep(rows.forSums, pass, shared)
        }
      case other => throw new IllegalArgumentException(s"partition ${other.index} does not hold rows")
    }
  }

  private def descended(data: RowData, message: SgdMessage, c: DescendCall, shared: Array[Byte]): Contribution[Unit] = {
    val started = ResultHeader.now()
    val rows = data.coordinates
    val result = SgdLayout.allocate(data.features, message.problem.loss.outputs)
    // A partition without rows adds nothing.
    if (rows > 0) {
      val k = data.index
      val budget = math.max(1L, math.ceil(c.epochs * rows).toLong)
      val r =
        Descend(message.seed, message.problem, c.schedule, budget, c.cursors(k), c.steps(k), c.shares(k), c.threads)
      TaskCancellation(NativeSgd.descend(data, r, shared, result, _))
    }
    ResultHeader.put(result, ResultHeader.STARTED, started)
    Contribution(result, (), SgdLayout.factors(result))
  }

  private def searched(data: RowData, message: SgdMessage, c: SearchCall, shared: Array[Byte]): Contribution[Unit] = {
    val started = ResultHeader.now()
    val result = new Array[Byte](ResultHeader.BYTES)
    // A partition without rows has no row to measure at.
    if (data.coordinates > 0) {
      val r =
        EtaSearch(message.seed, message.problem, c.schedule, c.candidates, c.rows, cursor = 0L, steps = 0L)
      TaskCancellation(NativeSgd.search(data, r, shared, result, _))
    }
    ResultHeader.put(result, ResultHeader.STARTED, started)
    Contribution(result, ())
  }
}
