package dwell.solver.rows.worker

import dwell.data.RowData
import dwell.jni.{Cancellation, NativeBridge, SgdLayout}

/**
 * The local solver of gradient descent, in native code: descends on one partition, from a model that all workers share.
 *
 * A step on row i, with step size eta and predictions z = x_i^T w + b, is
 *
 * {{{
 *   g_c   = s_i weightFactor dl/dz_c
 *   w_jc <- S((1 - eta l2) w_jc - eta g_c scale_j x_ij,  eta l1 sqrt(scale_j)),   S(v, t) = sign(v) max(|v| - t, 0)
 *   b_c  <- b_c - eta g_c
 * }}}
 *
 * for all features j, in time proportional to the nonzeros of the row. At its corner the hinge has derivative 0.
 * Sources: Bottou, Stochastic Gradient Descent Tricks (2012), for the decay by L2; Lipton and Elkan, Efficient Elastic
 * Net Regularization for Sparse Linear Models (arXiv 1505.06449), for L1 with L2; Guo et al., Model Averaging in
 * Distributed Machine Learning (VLDB Journal 30, 2021), for the rounds.
 *
 * Rows come in whole buckets of neighbours, each epoch in a new order that depends on seed and partition alone. Each
 * call is a pure function of its arguments.
 *
 * A model is C (n + 1) little-endian doubles, for n features and C outputs: see [[dwell.jni.SgdLayout]]. In every call `shared`
 * is the model to start from, `8 C (n + 1)` bytes. The call fills the header of `result`, another array, in the layout
 * of [[dwell.jni.SgdLayout]], except the slots from [[dwell.jni.ResultHeader.FIRST_FREE]] on. A model that stops being finite is
 * not an error; the header reports it. A wrong argument raises an IllegalArgumentException that names it. Calls ask
 * `cancellation` every few milliseconds; true raises a CancellationException.
 */
private[solver] object NativeSgd {

  /**
   * Descends over the partition's next rows. The vector of the result is `r.share` times the model that it reaches.
   * If descent diverged, it is `r.share` times the shared model.
   *
   * @param data
   *   labels are classes 0 and 1; any numbers with the squared loss; class numbers with the softmax loss
   * @param result
   *   of length `SgdLayout.length(n, C)`
   */
  def descend(data: RowData, r: Descend, shared: Array[Byte], result: Array[Byte], cancellation: Cancellation): Unit =
    call(
      NativeBridge.sgdDescend,
      data,
      control(
        data,
        r.problem,
        seed = r.seed,
        budget = r.budget,
        cursor = r.cursor,
        steps = r.steps,
        schedule = r.schedule.kind.code,
        threads = r.threads),
      SgdLayout.descent(
        r.problem.loss.parameter,
        r.problem.penalty.l1,
        r.problem.penalty.l2,
        r.problem.weightFactor,
        r.schedule.eta0,
        r.schedule.rate,
        r.share),
      shared,
      result,
      cancellation)

  /**
   * Descends over the partition's next rows once for each candidate of a first step size, and measures the objective of
   * each resulting model at as many rows after these. A partition of one row measures at that row.
   *
   * @param result
   *   of length `ResultHeader.BYTES`: there is no vector
   */
  def search(data: RowData, r: EtaSearch, shared: Array[Byte], result: Array[Byte], cancellation: Cancellation): Unit =
    call(
      NativeBridge.sgdSearch,
      data,
      control(
        data,
        r.problem,
        seed = r.seed,
        budget = r.budget,
        cursor = r.cursor,
        steps = r.steps,
        schedule = r.schedule.kind.code,
        threads = 1),
      SgdLayout.search(
        r.problem.loss.parameter,
        r.problem.penalty.l1,
        r.problem.penalty.l2,
        r.problem.weightFactor,
        r.schedule.rate,
        r.candidates),
      shared,
      result,
      cancellation)

  /** A native call: control, settings, the arrays of the blocks, the scale, the shared vector, the result, and the cancellation. */
  private type Native = (
      Array[Long],
      Array[Double],
      Array[Array[Int]],
      Array[Array[Int]],
      Array[Array[Float]],
      Array[Array[Double]],
      Array[Array[Double]],
      Array[Array[Double]],
      Array[Double],
      Array[Byte],
      Array[Byte],
      Cancellation) => Unit

  private def call(
      native: Native,
      data: RowData,
      control: Array[Long],
      settings: Array[Double],
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Unit =
    native(
      control,
      settings,
      data.blocks.map(_.offsets),
      data.blocks.map(_.features),
      data.blocks.map(_.values32),
      data.blocks.map(_.values64),
      data.blocks.map(_.labels),
      data.blocks.map(_.weights),
      data.scale,
      shared,
      result,
      cancellation)

  private def control(
      data: RowData,
      problem: RowObjective,
      seed: Long,
      budget: Long,
      cursor: Long,
      steps: Long,
      schedule: Int,
      threads: Int): Array[Long] =
    SgdLayout.control(
      data.index,
      seed,
      data.features,
      problem.loss.code,
      problem.loss.outputs,
      (if (problem.intercept) NativeBridge.SGD_INTERCEPT else 0L) |
        (if (data.isClassified) NativeBridge.SGD_CLASSES else 0L),
      budget,
      cursor,
      steps,
      schedule,
      threads)
}
