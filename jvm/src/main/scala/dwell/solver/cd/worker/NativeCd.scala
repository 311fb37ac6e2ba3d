package dwell.solver.cd.worker

import dwell.data.{ColumnData, LocalData, RowData}
import dwell.jni.{Cancellation, CdLayout, MarginLayout, NativeBridge}
import dwell.solver.cd.contract.{CdSolver, DualSubproblem, MarginOperation, MarginSlice, PendingStep, PrimalSubproblem, RoundRequest, Subproblem, WorkerState}
import dwell.solver.problem.{MarginLoss, Squared}

/** The local solver in native code. Its states live in the native library, outside the Java heap. */
private[solver] object NativeCd extends CdSolver {

  override def name: String = "native"

  override def round(
      data: LocalData,
      r: RoundRequest,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Boolean =
    held((data, r.subproblem) match {
      case (ColumnData(p, weights), problem: PrimalSubproblem) =>
        NativeBridge.primalRound(
          control(data, r),
          settings(r, problem),
          p.offsets,
          p.indices,
          p.values32,
          p.values64,
          p.mean,
          p.variance,
          p.deviation,
          weights,
          shared,
          result,
          cancellation)
      case (RowData(p, scale), problem: DualSubproblem) =>
        NativeBridge.dualRound(
          control(data, r),
          settings(r, problem),
          p.offsets,
          p.indices,
          p.values32,
          p.values64,
          p.labels,
          p.weights,
          p.norms,
          p.projections,
          scale,
          shared,
          result,
          cancellation)
      case _ => Subproblem.mismatch(data, r.subproblem)
    })

  override def product(data: LocalData, r: RoundRequest, result: Array[Byte], cancellation: Cancellation): Boolean =
    held((data, r.subproblem) match {
      case (ColumnData(p, weights), problem: PrimalSubproblem) =>
        NativeBridge.primalProduct(
          control(data, r),
          settings(r, problem),
          p.offsets,
          p.indices,
          p.values32,
          p.values64,
          p.mean,
          p.variance,
          p.deviation,
          weights,
          result,
          cancellation)
      case (RowData(p, scale), problem: DualSubproblem) =>
        NativeBridge.dualProduct(
          control(data, r),
          settings(r, problem),
          p.offsets,
          p.indices,
          p.values32,
          p.values64,
          p.labels,
          p.weights,
          p.norms,
          p.projections,
          scale,
          result,
          cancellation)
      case _ => Subproblem.mismatch(data, r.subproblem)
    })

  override def margins(
      loss: MarginLoss,
      intercept: Double,
      operation: MarginOperation,
      slice: MarginSlice,
      threads: Int): Array[Double] = {
    val control = new Array[Long](MarginLayout.CONTROL_SLOTS)
    control(MarginLayout.CONTROL_VERSION) = NativeBridge.MARGIN_LAYOUT_VERSION
    control(MarginLayout.CONTROL_OPERATION) = operation.code
    control(MarginLayout.CONTROL_LOSS) = loss.code.toLong
    control(MarginLayout.CONTROL_THREADS) = threads.toLong
    val settings = new Array[Double](MarginLayout.SETTING_SLOTS)
    settings(MarginLayout.SETTING_GAMMA) = loss.gamma
    settings(MarginLayout.SETTING_INTERCEPT) = intercept
    settings(MarginLayout.SETTING_FIRST) = operation.first
    settings(MarginLayout.SETTING_SECOND) = operation.second
    val sums = new Array[Double](MarginLayout.SUMS)
    NativeBridge.margins(
      control,
      settings,
      slice.margins,
      slice.direction,
      slice.update,
      slice.losses,
      slice.residuals,
      slice.labels,
      slice.weights,
      sums)
    sums
  }

  override def exportState(fit: Long, partition: Int): Option[WorkerState] = {
    val size = NativeBridge.stateSize(fit, partition)
    if (size < 0) None
    else {
      val meta = new Array[Long](CdLayout.META_SLOTS)
      val alpha, previous, delta = new Array[Double](size)
      if (!NativeBridge.exportState(fit, partition, meta, alpha, previous, delta)) None
      else {
        val pendingRound = meta(CdLayout.META_PENDING_ROUND)
        val pending =
          if (pendingRound < 0) None
          else Some(PendingStep(pendingRound, meta(CdLayout.META_PENDING_CURSOR), delta))
        val (version, stamp) = (meta(CdLayout.META_VERSION), meta(CdLayout.META_STAMP))
        Some(WorkerState(version, stamp, meta(CdLayout.META_CURSOR), alpha, previous, pending))
      }
    }
  }

  override def importState(fit: Long, partition: Int, s: WorkerState): Unit = {
    val meta = new Array[Long](CdLayout.META_SLOTS)
    meta(CdLayout.META_VERSION) = s.version
    meta(CdLayout.META_STAMP) = s.stamp
    meta(CdLayout.META_CURSOR) = s.cursor
    meta(CdLayout.META_PENDING_ROUND) = -1L // none
    NativeBridge.importState(fit, partition, meta, s.alpha, s.previous)
  }

  override def free(fit: Long): Long = NativeBridge.freeFit(fit)

  override def expire(maxAgeMillis: Long): Long = NativeBridge.expire(maxAgeMillis)

  override def stateBytes: Long = NativeBridge.stateBytes()

  override def stateEntries: Long = NativeBridge.stateEntries()

  private def control(data: LocalData, r: RoundRequest): Array[Long] = {
    val (flags, loss) = r.subproblem match {
      // The loss of a primal subproblem is always the squared one.
      case problem: PrimalSubproblem => (if (problem.centred) NativeBridge.CENTRED else 0L, Squared)
      case problem: DualSubproblem => (if (problem.gradient) NativeBridge.GRADIENT else 0L, problem.loss)
    }
    CdLayout.control(
      r.fit,
      data.index,
      r.round,
      r.seed,
      r.coordinates(data.coordinates),
      (if (r.certificate) NativeBridge.CERTIFICATE else 0L) | (if (r.batch) NativeBridge.BATCH else 0L) | flags,
      r.threads,
      data.vectorLength,
      r.stamps(data.index),
      loss.code)
  }

  private def settings(r: RoundRequest, problem: PrimalSubproblem): Array[Double] =
    CdLayout.primalSettings(
      r.sigmaPrime,
      problem.l1,
      problem.l2,
      r.totalWeight,
      problem.scaleFactor,
      r.theta1,
      r.theta2,
      r.points)

  private def settings(r: RoundRequest, problem: DualSubproblem): Array[Double] =
    CdLayout.dualSettings(
      r.sigmaPrime,
      problem.l2,
      r.totalWeight,
      problem.loss.gamma,
      problem.intercept,
      problem.offset,
      r.theta1,
      r.theta2,
      problem.candidates,
      r.points)

  private def held(answer: Int): Boolean = answer == NativeBridge.OK
}
