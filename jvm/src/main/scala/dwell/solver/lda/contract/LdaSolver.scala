package dwell.solver.lda.contract

import dwell.data.documents.DocumentPartition
import dwell.jni.Cancellation

/**
 * The worker's half of latent Dirichlet allocation by model averaging: steps of stochastic variational inference on the
 * documents of a partition, and their bound. Every call is a pure function of its arguments: there is no state but a
 * record that the arrays of (fit, partition) were checked, and memory to work in, which are freed with the
 * [[dwell.solver.cd.contract.CdSolver.free]] of that fit.
 *
 * Topics are K V little-endian floats, lambda without its prior, of word w and topic k at w K + k, and +0.0 behind them
 * if K V is odd. In every call `shared` is the topics to start from, and `result` another array, whose header has the
 * slots of [[dwell.jni.LdaLayout]]; those from [[dwell.jni.ResultHeader.FIRST_FREE]] on are left as they are. A wrong
 * argument is an IllegalArgumentException that names it. `cancellation` is asked every few milliseconds; true raises a
 * CancellationException.
 */
trait LdaSolver {

  /**
   * Makes steps on the partition's next documents. The vector of the result is the topics reached, times `r.share`; the
   * bound is that of the sample at the shared topics.
   *
   * @param data
   *   of at least one document
   * @param result
   *   of length `LdaLayout.length(V, K, r.concentration)`; with `r.concentration` the sums of E[log theta] are behind
   *   the topics
   */
  def round(
      data: DocumentPartition,
      r: LdaRound,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Unit

  /**
   * The bound of some of the partition's documents at the shared topics.
   *
   * @param data
   *   of at least `r.last` documents
   * @param result
   *   of length `ResultHeader.BYTES`: there is no vector
   */
  def bound(
      data: DocumentPartition,
      r: LdaBound,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Unit
}

/**
 * The model, as far as workers need it.
 *
 * @param alpha
 *   prior of the topics in a document: K numbers, 1e-6 to 1e6
 * @param eta
 *   prior of a word in a topic, 1e-6 to 1e6
 */
final case class LdaPriors(alpha: Array[Double], eta: Double) {

  /** K. */
  def topics: Int = alpha.length
}

object LdaPriors {

  // Numbers out of this range lose too many digits in single precision.
  val Least: Double = 1e-6
  val Greatest: Double = 1e6

  /** Whether solvers take this number as alpha or eta. */
  def inRange(prior: Double): Boolean = prior >= Least && prior <= Greatest
}

/**
 * How the topics of a document are found.
 *
 * @param tolerance
 *   done when the mean over the topics of the change of gamma is less; finite and positive
 * @param cap
 *   iterations, at most; at least 1. Less than 200 cost much in the first pass over the documents
 * @param overRelaxation
 *   how much further than the new gamma the next iteration starts, 0 to 1; 0: no further
 * @param pruning
 *   topics whose share of a document is less, and does not rise, leave it, 0 to 0.5; 0: none
 * @param mean
 *   whether the factor of a word in a topic is the mean of the topic, in the place of exp(E[log beta])
 */
final case class Inference(
    tolerance: Double = 1e-3,
    cap: Int = 1000,
    overRelaxation: Double = 0.7,
    pruning: Double = 0.01,
    mean: Boolean = false)

/**
 * A worker's part of a round.
 *
 * @param fit
 *   identifier of the fit, unique within the application
 * @param seed
 *   seed of the order of documents
 * @param corpus
 *   documents of all workers, D, at least 1
 * @param workers
 *   workers that have documents, W, at least 1
 * @param batch
 *   documents of a step, at least 1
 * @param budget
 *   documents to visit, at least 1
 * @param cursor
 *   documents that the worker has visited since the start of the fit
 * @param seen
 *   documents that all workers have visited since the start of the fit
 * @param concentration
 *   whether the sums of E[log theta] are asked for
 * @param share
 *   factor of the result, 0 to 1: the worker's weight in the average of the topics
 * @param sample
 *   documents of the partition, from its first on, whose bound is asked for
 */
final case class LdaRound(
    fit: Long,
    seed: Long,
    priors: LdaPriors,
    inference: Inference,
    schedule: LdaSchedule,
    corpus: Long,
    workers: Int,
    batch: Int,
    budget: Long,
    cursor: Long,
    seen: Long,
    concentration: Boolean,
    share: Double,
    sample: Int)

/**
 * The bound of documents `first` until `last` of a partition: 0 <= first < last.
 *
 * @param fit
 *   as in [[LdaRound]]
 */
final case class LdaBound(fit: Long, priors: LdaPriors, inference: Inference, first: Int, last: Int)
