package dwell.solver.newton.worker

import dwell.comm.wire.Contribution
import dwell.data.rows.BlockData
import dwell.jni.{PassLayout, ResultHeader}
import dwell.spark.{NativeLibrary, TaskCancellation}

/** A worker's part of a pass of Newton's method. It keeps no state. */
private[solver] object PassStep {

  /**
   * Sums over all rows of a worker.
   *
   * @throws dwell.jni.NativeUnavailableException
   *   if the library cannot load
   */
  def apply(data: BlockData, message: PassMessage, shared: Array[Byte]): Contribution[Unit] = {
    NativeLibrary.require()
    val started = ResultHeader.now()
    val m = message
    val result =
      if (m.sums.any)
        new Array[Byte](
          PassLayout.length(m.centre.length, m.model.length / m.loss.outputs - m.centre.length, m.loss.outputs))
      else new Array[Byte](ResultHeader.BYTES)
    val lanes = new PassLanes(m, result.length)
    try TaskCancellation(cancellation => lanes.add(data.blocks(), cancellation).end(result))
    finally lanes.free()
    ResultHeader.put(result, ResultHeader.STARTED, started)
    Contribution(result, ())
  }
}
