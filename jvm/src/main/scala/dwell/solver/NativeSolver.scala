package dwell.solver

import dwell.data.ColumnPartition
import dwell.jni.{Cancellation, NativeBridge}

/** The local solver in native code. Its states live in the native library, outside the Java heap. */
private[solver] object NativeSolver extends LocalSolver {

  override def name: String = "native"

  override def round(
      p: ColumnPartition,
      weights: Array[Double],
      r: RoundRequest,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Boolean =
    held(
      NativeBridge.primalRound(
        control(p, r),
        settings(r),
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
        cancellation))

  override def product(
      p: ColumnPartition,
      weights: Array[Double],
      r: RoundRequest,
      result: Array[Byte],
      cancellation: Cancellation): Boolean =
    held(
      NativeBridge.primalProduct(
        control(p, r),
        settings(r),
        p.offsets,
        p.indices,
        p.values32,
        p.values64,
        p.mean,
        p.variance,
        p.deviation,
        weights,
        result,
        cancellation))

  override def exportState(fit: Long, partition: Int): Option[WorkerState] = {
    val size = NativeBridge.stateSize(fit, partition)
    if (size < 0) None
    else {
      val meta = new Array[Long](5)
      val alpha, previous, delta = new Array[Double](size)
      if (!NativeBridge.exportState(fit, partition, meta, alpha, previous, delta)) None
      else {
        val pending = if (meta(3) < 0) None else Some(PendingStep(round = meta(3), cursor = meta(4), delta))
        Some(WorkerState(version = meta(0), stamp = meta(1), cursor = meta(2), alpha, previous, pending))
      }
    }
  }

  override def importState(fit: Long, partition: Int, s: WorkerState): Unit =
    NativeBridge.importState(fit, partition, Array(s.version, s.stamp, s.cursor, -1L, 0L), s.alpha, s.previous)

  override def free(fit: Long): Long = NativeBridge.freeFit(fit)

  override def expire(maxAgeMillis: Long): Long = NativeBridge.expire(maxAgeMillis)

  override def stateBytes: Long = NativeBridge.stateBytes()

  override def stateEntries: Long = NativeBridge.stateEntries()

  private def control(p: ColumnPartition, r: RoundRequest): Array[Long] = Array(
    NativeBridge.LAYOUT_VERSION,
    r.fit,
    p.index.toLong,
    r.round,
    r.seed,
    r.coordinates(p.numColumns),
    (if (r.certificate) NativeBridge.CERTIFICATE else 0L) | (if (r.centred) NativeBridge.CENTRED else 0L),
    r.threads.toLong,
    p.rows.toLong,
    r.stamps(p.index))

  private def settings(r: RoundRequest): Array[Double] =
    Array(r.sigmaPrime, r.l1, r.l2, r.totalWeight, r.scaleFactor, r.theta1, r.theta2)

  private def held(answer: Int): Boolean = answer == NativeBridge.OK
}
