package dwell.solver.network

import java.util.Arrays

import dwell.comm.wire.Contribution
import dwell.data.{LocalData, RowData}
import dwell.jni.{NativeBridge, NetworkLayout, ResultHeader, SgdLayout}
import dwell.solver.pass.PassStep
import dwell.spark.{NativeLibrary, TaskCancellation}

/** The worker's part of an exchange of model averaging. It keeps no state, so a second run gives the same result. */
private[solver] object NetworkStep {

  /**
   * Answers `message` on the rows of a worker.
   *
   * @param shared
   *   the weights to start from, little endian
   * @throws dwell.jni.NativeUnavailableException
   *   if the library cannot load
   */
  def apply(data: LocalData, message: NetworkMessage, shared: Array[Byte]): Contribution[Unit] = {
    NativeLibrary.require()
    data match {
      case rows: RowData =>
        message match {
          case m: NetworkDescent => descended(rows, m, shared)
          case m: NetworkSearch => searched(rows, m, shared)
          case NetworkLosses(pass) => PassStep(rows.forSums, pass, shared)
        }
      case other => throw new IllegalArgumentException(s"partition ${other.index} does not hold rows")
    }
  }

  private def descended(data: RowData, m: NetworkDescent, shared: Array[Byte]): Contribution[Unit] = {
    val started = ResultHeader.now()
    // A partition without rows adds nothing.
    val result =
      if (data.coordinates == 0) new Array[Byte](ResultHeader.BYTES + shared.length)
      else {
        val (k, budget) = (data.index, math.max(1L, math.ceil(m.epochs * data.coordinates).toLong))
        descend(data, m.steps, budget, m.cursors(k), m.stepSize, m.shares(k), shared)
      }
    ResultHeader.put(result, ResultHeader.STARTED, started)
    Contribution(result, ())
  }

  private def searched(data: RowData, m: NetworkSearch, shared: Array[Byte]): Contribution[Unit] = {
    val started = ResultHeader.now()
    val result = new Array[Byte](ResultHeader.BYTES)
    // A partition without rows has no row to measure at.
    if (data.coordinates > 0) {
      m.candidates.zipWithIndex.foreach { case (candidate, i) =>
        ResultHeader.put(result, SgdLayout.OBJECTIVES + i, reached(data, m, candidate, shared))
      }
      ResultHeader.put(result, SgdLayout.WEIGHT_SUM, data.coordinates.toDouble)
      ResultHeader.put(result, ResultHeader.SOLVER_NANOS, (ResultHeader.now() - started) * 1e9)
    }
    ResultHeader.put(result, ResultHeader.STARTED, started)
    Contribution(result, ())
  }

  /** The mean loss that steps of this size reach, at the rows after those of the steps; infinite if they diverge. */
  private def reached(data: RowData, m: NetworkSearch, stepSize: Double, shared: Array[Byte]): Double = {
    val rows = math.max(1L, math.min(m.rows, data.coordinates / 2L))
    val moved = descend(data, m.steps, rows, cursor = 0L, stepSize, share = 1.0, shared)
    if (ResultHeader.get(moved, SgdLayout.DIVERGED) > 0.0) Double.PositiveInfinity
    else {
      val weights = Arrays.copyOfRange(moved, ResultHeader.BYTES, moved.length)
      val next = ResultHeader.get(moved, SgdLayout.CURSOR).toLong
      val measured = descend(data, m.steps, rows, next, stepSize = 0.0, share = 1.0, weights)
      ResultHeader.get(measured, SgdLayout.LOSS_SUM) / ResultHeader.get(measured, SgdLayout.WEIGHT_SUM)
    }
  }

  /** The result of a native descent, see [[NativeBridge.networkDescend]]. */
  private def descend(
      data: RowData,
      steps: NetworkSteps,
      budget: Long,
      cursor: Long,
      stepSize: Double,
      share: Double,
      shared: Array[Byte]): Array[Byte] = {
    val result = new Array[Byte](ResultHeader.BYTES + shared.length)
    TaskCancellation { cancellation =>
      NativeBridge.networkDescend(
        NetworkLayout.control(data.index, steps.seed, budget, cursor, steps.batch, steps.threads, steps.layers),
        Array(stepSize, share),
        data.blocks.map(_.offsets),
        data.blocks.map(_.features),
        data.blocks.map(_.values32),
        data.blocks.map(_.values64),
        data.blocks.map(_.labels),
        data.blocks.map(_.weights),
        null,
        shared,
        result,
        cancellation)
    }
    result
  }
}
