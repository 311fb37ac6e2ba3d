package dwell.solver.lda.worker

import dwell.data.documents.DocumentData
import dwell.jni.{Cancellation, LdaLayout, NativeBridge}

/** The local solver of latent Dirichlet allocation in native code. */
private[lda] object NativeLda extends LdaSolver {

  override def round(
      data: DocumentData,
      r: LdaRound,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Unit =
    NativeBridge.ldaRound(
      LdaLayout.round(
        r.fit,
        data.index,
        r.seed,
        data.vocabulary,
        r.priors.topics,
        r.batch,
        r.concentration,
        r.inference.mean,
        r.budget,
        r.cursor,
        r.seen,
        r.workers,
        r.inference.cap,
        r.corpus,
        r.sample,
        r.threads),
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
      data: DocumentData,
      r: LdaBound,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Unit =
    NativeBridge.ldaBound(
      LdaLayout
        .bound(r.fit, data.index, data.vocabulary, r.priors.topics, r.first, r.last, r.inference.cap, r.threads),
      // A bound makes no steps, so any schedule will do.
      settings(r.priors, r.inference, LdaSchedule(tau0 = 0.0, kappa = 0.0), share = 0.0),
      r.priors.alpha,
      data.offsets,
      data.words,
      data.counts32,
      data.counts64,
      shared,
      result,
      cancellation)

  private def settings(priors: LdaPriors, inference: Inference, schedule: LdaSchedule, share: Double): Array[Double] =
    LdaLayout.settings(
      priors.eta,
      schedule.tau0,
      schedule.kappa,
      schedule.base,
      inference.tolerance,
      inference.overRelaxation,
      inference.pruning,
      share)
}
