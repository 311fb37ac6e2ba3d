package dwell.solver.newton.worker

import dwell.comm.wire.Contribution
import dwell.data.rows.BlockData
import dwell.jni.{NativeBridge, PassLayout, ResultHeader}
import dwell.spark.{NativeLibrary, TaskCancellation}

/** A worker's part of a pass of Newton's method: one native call for each block. It keeps no state. */
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
      if (m.sums.any) new Array[Byte](PassLayout.length(m.centre.length, m.intercept, m.loss.outputs))
      else new Array[Byte](ResultHeader.BYTES)
    val pass =
      NativeBridge.passBegin(
        PassLayout.control(m.loss.code, m.loss.outputs, flags(m), m.sums.hessian),
        m.centre,
        m.model,
        m.direction,
        m.steps,
        m.reach)
    try {
      TaskCancellation { cancellation =>
        var nanos = 0L
        data.blocks().foreach { block =>
          if (cancellation.requested()) throw new java.util.concurrent.CancellationException("the task was killed")
          nanos += NativeBridge
            .passBlock(pass, block.offsets, block.features, block.values32, block.values64, block.labels, block.weights)
        }
        NativeBridge.passEnd(pass, nanos, result)
      }
    } finally NativeBridge.passFree(pass)
    ResultHeader.put(result, ResultHeader.STARTED, started)
    Contribution(result, ())
  }

  private def flags(m: PassMessage): Long =
    Seq(
      m.intercept -> NativeBridge.PASS_INTERCEPT,
      m.sums.gradient -> NativeBridge.PASS_GRADIENT,
      m.sums.moments -> NativeBridge.PASS_MOMENTS).collect { case (true, flag) => flag }.sum
}
