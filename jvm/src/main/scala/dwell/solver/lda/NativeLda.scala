package dwell.solver.lda

import dwell.data.DocumentPartition
import dwell.jni.{Cancellation, NativeBridge}

/** Steps and bounds of topics in native code. */
private[lda] object NativeLda extends LdaSolver {

  override def round(
      data: DocumentPartition,
      r: LdaRound,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Unit =
    NativeBridge.ldaRound(
      control(
        data,
        r.fit,
        r.priors,
        r.inference,
        seed = r.seed,
        batch = r.batch,
        workers = r.workers.toLong,
        budget = r.budget,
        cursor = r.cursor,
        seen = r.seen,
        corpus = r.corpus,
        flags = if (r.concentration) NativeBridge.LDA_CONCENTRATION else 0L),
      settings(r.priors, r.inference, r.schedule, r.share),
      r.priors.alpha,
      data.offsets,
      data.words,
      data.counts32,
      data.counts64,
      shared,
      result,
      cancellation)

  override def bound(
      data: DocumentPartition,
      r: LdaBound,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Unit =
    NativeBridge.ldaBound(
      control(
        data,
        r.fit,
        r.priors,
        r.inference,
        seed = 0L,
        batch = 1L,
        workers = 1L,
        budget = (r.last - r.first).toLong,
        cursor = r.first.toLong,
        seen = 0L,
        corpus = 1L,
        flags = 0L),
      settings(r.priors, r.inference, LdaSchedule(tau0 = 0.0, kappa = 0.0), share = 1.0),
      r.priors.alpha,
      data.offsets,
      data.words,
      data.counts32,
      data.counts64,
      shared,
      result,
      cancellation)

  private def control(
      data: DocumentPartition,
      fit: Long,
      priors: LdaPriors,
      inference: Inference,
      seed: Long,
      batch: Long,
      workers: Long,
      budget: Long,
      cursor: Long,
      seen: Long,
      corpus: Long,
      flags: Long): Array[Long] =
    Array(
      NativeBridge.LDA_LAYOUT_VERSION,
      fit,
      data.index.toLong,
      seed,
      data.vocabulary.toLong,
      priors.topics.toLong,
      batch,
      workers,
      budget,
      cursor,
      seen,
      inference.cap.toLong,
      corpus,
      flags)

  private def settings(priors: LdaPriors, inference: Inference, schedule: LdaSchedule, share: Double): Array[Double] =
    Array(
      priors.eta,
      schedule.tau0,
      schedule.kappa,
      schedule.base,
      inference.tolerance,
      inference.overRelaxation,
      inference.pruning,
      share)
}
