package dwell.solver.pass

import dwell.comm.wire.Contribution
import dwell.data.rows.BlockData
import dwell.jni.{Cancellation, ResultHeader}
import dwell.spark.{NativeLibrary, TaskCancellation}

/** A worker's part of a pass. It keeps no state. */
private[solver] object PassStep {

  /**
   * Sums over all rows of a worker.
   *
   * @param model
   *   where the losses are taken, little endian
   * @throws dwell.jni.NativeUnavailableException
   *   if the library cannot load
   */
  def apply(data: BlockData, message: NativePass, model: Array[Byte]): Contribution[Unit] = {
    NativeLibrary.require()
    Contribution(TaskCancellation(sums(data, message, model, _)), ())
  }

  /** The same, for any caller; asks `cancellation` before each block. */
  def sums(data: BlockData, message: NativePass, model: Array[Byte], cancellation: Cancellation): Array[Byte] = {
    val started = ResultHeader.now()
    val result = new Array[Byte](message.length)
    val lanes = new PassLanes(message, model, result.length)
    try lanes.add(data.blocks(), cancellation).end(result)
    finally lanes.free()
    ResultHeader.put(result, ResultHeader.STARTED, started)
    result
  }
}
