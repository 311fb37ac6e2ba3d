package dwell.solver.sgd.contract

import dwell.data.RowData
import dwell.jni.Cancellation
import dwell.solver.problem.StepSchedule

/**
 * The local solver of stochastic gradient descent: descends on one partition, from a model that all workers share.
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
 * Rows come in the order of [[dwell.base.BucketOrder]], in whole buckets. Each call is a pure function of its
 * arguments. Native code only remembers which arrays of a fit it has checked, until
 * [[dwell.solver.cd.contract.CdSolver.free]] of that fit. Both implementations give the same bytes (except the time) if
 * no exponential or logarithm is involved, and agree to 1e-12 otherwise.
 *
 * A model is C (n + 1) little-endian doubles, for n features and C outputs: see [[SgdLayout]]. In every call `shared`
 * is the model to start from, `8 C (n + 1)` bytes. The call fills the header of `result`, another array, in the layout
 * of [[SgdLayout]], except the slots from [[dwell.jni.ResultHeader.FIRST_FREE]] on. A model that stops being finite is
 * not an error; the header reports it. A wrong argument raises an IllegalArgumentException that names it. Calls ask
 * `cancellation` every few milliseconds; true raises a CancellationException.
 */
trait SgdSolver {

  /**
   * Descends over the partition's next rows. The vector of the result is `r.share` times the last model, or times the
   * mean of the models after each step. If descent diverged, it is `r.share` times the shared model.
   *
   * @param data
   *   labels are -1 or 1; any numbers with the squared loss; class numbers with the softmax loss
   * @param result
   *   of length `SgdLayout.length(n, C)`
   */
  def descend(data: RowData, r: Descend, shared: Array[Byte], result: Array[Byte], cancellation: Cancellation): Unit

  /**
   * Descends over the partition's next rows once for each candidate of a first step size, and measures the objective of
   * each resulting model at as many rows after these. A partition of one row measures at that row.
   *
   * @param result
   *   of length `ResultHeader.BYTES`: there is no vector
   */
  def search(data: RowData, r: Search, shared: Array[Byte], result: Array[Byte], cancellation: Cancellation): Unit

  /**
   * Computes the losses of all rows at the shared model, and their gradient. The vector of the result is `r.factor`
   * times `sum_i s_i dl/dz_c x_ij`, and for the intercepts, even if the problem has none, `sum_i s_i dl/dz_c`. It is 0
   * if something was not finite. With dual numbers, dual variables a_ic replace the derivatives, and their conjugates
   * replace the losses.
   *
   * @param result
   *   of length `SgdLayout.length(n, C)`
   */
  def evaluate(data: RowData, r: Evaluate, shared: Array[Byte], result: Array[Byte], cancellation: Cancellation): Unit
}

/**
 * A worker's part of a round.
 *
 * @param fit
 *   identifier of the fit, unique within the application
 * @param seed
 *   seed of the order of rows
 * @param budget
 *   rows to visit, at least 1; descent finishes the bucket that reaches it
 * @param cursor
 *   buckets that the worker has visited since the start of the fit
 * @param steps
 *   rows that the worker has visited since the start of the fit
 * @param running
 *   whether the result is the mean of the models after each step of this call, instead of the last one
 * @param share
 *   factor of the result, 0 to 1: the worker's weight in the average of the models
 */
final case class Descend(
    fit: Long,
    seed: Long,
    problem: SgdProblem,
    schedule: StepSchedule,
    budget: Long,
    cursor: Long,
    steps: Long,
    running: Boolean,
    share: Double)

/**
 * A search for the first step size.
 *
 * @param schedule
 *   the schedule of the steps; its own first step size is ignored
 * @param candidates
 *   first step sizes, each in the range of [[StepSchedule.eta0]]; 1 to [[SgdLayout.MAX_CANDIDATES]] of them
 * @param budget
 *   rows to descend over, at least 1, and as many rows to measure at. If the partition has fewer rows than both need,
 *   each is half of its rows
 * @param cursor
 *   as in [[Descend]]
 * @param steps
 *   as in [[Descend]]
 */
final case class Search(
    fit: Long,
    seed: Long,
    problem: SgdProblem,
    schedule: StepSchedule,
    candidates: Array[Double],
    budget: Long,
    cursor: Long,
    steps: Long)

/**
 * A pass over all rows of a partition.
 *
 * @param factor
 *   factor of the vector of the result, finite
 * @param dual
 *   None for losses and their gradient. Otherwise the numbers that make the dual variables feasible for the whole
 *   problem. By loss: - squared: delta, which is subtracted from the residuals, a = (y - z) - delta - another margin
 *   loss: f_neg and f_pos in 0 to 1, a = y f_y p with p = -y dl/dz - softmax: eps in 0 to 1 and a probability r_c of
 *   each class, a_c = [c = y] - ((1 - eps) q_c + eps r_c) with the
 *     predicted probabilities q
 */
final case class Evaluate(fit: Long, problem: SgdProblem, factor: Double, dual: Option[Array[Double]])
