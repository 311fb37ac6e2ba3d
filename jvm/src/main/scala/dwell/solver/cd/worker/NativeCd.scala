package dwell.solver.cd.worker

import dwell.data.{ColumnData, LocalData, RowData}
import dwell.jni.{Cancellation, CdLayout, MarginLayout, NativeBridge}
import dwell.problem.MarginLoss

/**
 * The local solver of coordinate descent: calls of native code. The library keeps one worker state per (fit, partition) and
 * JVM, outside the Java heap.
 *
 * A call is a pure function of the committed state, the request and the shared vector. A second call, on the same worker or
 * on another one that holds the same version, gives the same result and applies nothing twice.
 */
private[dwell] object NativeCd {

  /**
   * Runs round `r.round` on a partition and keeps the proposed step as pending. The vector of the result is the change
   * of the shared vector: A (a' - a) for columns, and for rows the step of the coefficients before any soft threshold.
   *
   * @param data
   *   of the orientation of `r.subproblem`
   * @param shared
   *   little-endian doubles, `8 * data.vectorLength` bytes: the residual for columns, the coefficients for rows
   * @param result
   *   filled in the layout of [[dwell.jni.CdLayout]], except the slots from [[dwell.jni.ResultHeader.FIRST_FREE]]
   *   on; unspecified where the answer is false
   * @param cancellation
   *   asked every few milliseconds; true raises a CancellationException. No exception changes the state.
   * @return
   *   false if this worker has no state for the round; the caller then has to rebuild
   */
  def round(
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
          Array(p.offsets),
          Array(p.indices),
          Array(p.values32),
          Array(p.values64),
          Array(p.mean),
          Array(p.variance),
          Array(p.deviation),
          weights,
          shared,
          result,
          cancellation)
      case (rows: RowData, problem: DualSubproblem) =>
        NativeBridge.dualRound(
          control(data, r),
          settings(r, problem),
          rows.blocks.map(_.offsets),
          rows.blocks.map(_.features),
          rows.blocks.map(_.values32),
          rows.blocks.map(_.values64),
          rows.blocks.map(_.labels),
          rows.blocks.map(_.weights),
          rows.scale,
          rows.mean,
          shared,
          result,
          cancellation)
      case _ => Subproblem.mismatch(data, r.subproblem)
    })

  /**
   * A rebuild: commits the step of the round before, drops the step of `r.round`, moves the state to version
   * `r.round + 1` under a new stamp, and returns the product of the partition's data with its coordinates. A worker
   * without a matching state starts again from zero; [[WorkerState.Stamp.isRestart]] of slot
   * [[dwell.jni.CdLayout.STAMP]] tells the caller whether it did. A repeated call leaves the moved state alone.
   *
   * @param result
   *   as for [[round]]
   * @return
   *   false if the fit has been freed meanwhile, or the state is of a later round
   */
  def product(data: LocalData, r: RoundRequest, result: Array[Byte], cancellation: Cancellation): Boolean =
    held((data, r.subproblem) match {
      case (ColumnData(p, weights), problem: PrimalSubproblem) =>
        NativeBridge.primalProduct(
          control(data, r),
          settings(r, problem),
          Array(p.offsets),
          Array(p.indices),
          Array(p.values32),
          Array(p.values64),
          Array(p.mean),
          Array(p.variance),
          Array(p.deviation),
          weights,
          result,
          cancellation)
      case (rows: RowData, problem: DualSubproblem) =>
        NativeBridge.dualProduct(
          control(data, r),
          settings(r, problem),
          rows.blocks.map(_.offsets),
          rows.blocks.map(_.features),
          rows.blocks.map(_.values32),
          rows.blocks.map(_.values64),
          rows.blocks.map(_.labels),
          rows.blocks.map(_.weights),
          rows.scale,
          rows.mean,
          result,
          cancellation)
      case _ => Subproblem.mismatch(data, r.subproblem)
    })

  /**
   * Runs an operation on a slice of rows. No state is involved.
   *
   * @param loss
   *   with a finite curvature
   * @param threads
   *   threads that the call may use; they do not change the result
   * @return
   *   the operation's sums, by the slots of [[dwell.jni.MarginLayout]]
   */
  def margins(
      loss: MarginLoss,
      intercept: Double,
      operation: MarginOperation,
      rows: MarginRows,
      threads: Int): Array[Double] = {
    val control = new Array[Long](MarginLayout.CONTROL_SLOTS)
    control(MarginLayout.CONTROL_VERSION) = NativeBridge.MARGIN_LAYOUT_VERSION
    control(MarginLayout.CONTROL_OPERATION) = operation.code
    control(MarginLayout.CONTROL_LOSS) = loss.code.toLong
    control(MarginLayout.CONTROL_THREADS) = threads.toLong
    val settings = new Array[Double](MarginLayout.SETTING_SLOTS)
    settings(MarginLayout.SETTING_GAMMA) = loss.parameter
    settings(MarginLayout.SETTING_INTERCEPT) = intercept
    settings(MarginLayout.SETTING_FIRST) = operation.first
    settings(MarginLayout.SETTING_SECOND) = operation.second
    val sums = new Array[Double](MarginLayout.SUMS)
    NativeBridge.margins(
      control,
      settings,
      rows.margins,
      rows.direction,
      rows.update,
      rows.losses,
      rows.residuals,
      rows.labels,
      rows.weights,
      sums)
    sums
  }

  /** A copy of the state of one partition; None if this worker has none. */
  def exportState(fit: Long, partition: Int): Option[WorkerState] = {
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

  /** Replaces the state of one partition. It ignores a pending step, whose round can be run again. */
  def importState(fit: Long, partition: Int, s: WorkerState): Unit = {
    val meta = new Array[Long](CdLayout.META_SLOTS)
    meta(CdLayout.META_VERSION) = s.version
    meta(CdLayout.META_STAMP) = s.stamp
    meta(CdLayout.META_CURSOR) = s.cursor
    meta(CdLayout.META_PENDING_ROUND) = -1L // none
    NativeBridge.importState(fit, partition, meta, s.alpha, s.previous)
  }

  private def control(data: LocalData, r: RoundRequest): Array[Long] = {
    val (flags, loss) = (r.subproblem, data) match {
      // The residual has all that a primal round needs of the loss.
      case (problem: PrimalSubproblem, _) => (if (problem.centred) NativeBridge.CENTRED else 0L, 0)
      case (problem: DualSubproblem, rows: RowData) if rows.isClassified => (NativeBridge.CLASSES, problem.loss.code)
      case (problem: DualSubproblem, _) => (0L, problem.loss.code)
    }
    CdLayout.control(
      r.fit,
      data.index,
      r.round,
      r.seed,
      r.coordinates(data.coordinates),
      (if (r.certificate) NativeBridge.CERTIFICATE else 0L) | flags,
      r.threads,
      data.vectorLength,
      r.stamps(data.index),
      loss)
  }

  private def settings(r: RoundRequest, problem: PrimalSubproblem): Array[Double] = {
    val penalty = problem.penalty
    CdLayout.primalSettings(
      r.sigmaPrime,
      penalty.l1,
      penalty.l2,
      r.totalWeight,
      penalty.scaleFactor,
      r.theta1,
      r.theta2,
      r.points)
  }

  private def settings(r: RoundRequest, problem: DualSubproblem): Array[Double] =
    CdLayout.dualSettings(
      r.sigmaPrime,
      problem.l2,
      r.totalWeight,
      problem.loss.parameter,
      problem.intercept,
      problem.offset,
      r.theta1,
      r.theta2,
      problem.candidates,
      r.points)

  private def held(answer: Int): Boolean = answer == NativeBridge.OK
}
