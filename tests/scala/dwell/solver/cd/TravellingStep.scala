package dwell.solver.cd

import java.util.concurrent.atomic.AtomicLong

import scala.collection.concurrent.TrieMap

import dwell.base.SplitMix
import dwell.comm.wire.Contribution
import dwell.data.LocalData
import dwell.solver.cd.worker.{CdMessage, CdReply, CdStep, CoordinateMessage, NativeCd, WorkerState}
import dwell.spark.NativeLibrary

/**
 * The worker's part of an exchange, whose state stays with no worker: each exchange imports the state that the one before it has exported,
 * under a key of its own, and frees it. The leader's verdict is carried out here, on the exported state. For workers in one process.
 */
object TravellingStep {

  /** The state of each fit and partition after its last exchange. */
  private val states = TrieMap.empty[(Long, Int), WorkerState]

  private val exchanges = new AtomicLong()

  /** The exchanges so far. */
  def count: Long = exchanges.get

  def apply(data: LocalData, message: CdMessage, shared: Array[Byte]): Contribution[CdReply] = message match {
    case CoordinateMessage(phase, request) =>
      val at = (request.fit, data.index)
      val key = SplitMix.mix(request.fit ^ SplitMix.mix(exchanges.incrementAndGet()))
      val before = committed(states.getOrElse(at, WorkerState.zero(data.coordinates)), request.theta1, request.theta2)
      NativeCd.importState(key, data.index, before)
      try {
        val done = CdStep(data, CoordinateMessage(phase, request.copy(fit = key)), shared)
        states(at) = NativeCd.exportState(key, data.index).getOrElse(before)
        done
      } finally NativeLibrary.free(key)
    case other => CdStep(data, other, shared)
  }

  /** Adds `theta1` times the pending step and `theta2` times the step before it, with the same arithmetic as the workers. */
  def committed(state: WorkerState, theta1: Double, theta2: Double): WorkerState = state.pending.fold(state) { step =>
    val added = step.delta.zip(state.previous).map { case (d, p) => theta1 * d + theta2 * p }
    val alpha = state.alpha.zip(added).map { case (a, d) => a + d }
    WorkerState(step.round + 1, state.stamp, step.cursor, alpha, added, None)
  }
}
