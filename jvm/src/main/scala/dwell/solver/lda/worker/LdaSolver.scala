package dwell.solver.lda.worker

import dwell.data.documents.DocumentData
import dwell.jni.Cancellation

/**
 * The local solver of latent Dirichlet allocation by model averaging: it makes steps of stochastic variational
 * inference on the documents of a partition, and computes their bound. Every call is a pure function of its arguments.
 * A solver only keeps working memory for (fit, partition), which [[dwell.spark.NativeLibrary.free]] of that fit frees, and knows the
 * blocks that it has checked.
 *
 * Topics are K V little-endian floats: lambda without its prior, of word w and topic k at w K + k, followed by one +0.0
 * if K V is odd. In every call `shared` is the topics to start from. The call fills the header of `result`, another
 * array, with the slots of [[dwell.jni.LdaLayout]], except those from [[dwell.jni.ResultHeader.FIRST_FREE]] on. A wrong
 * argument raises an IllegalArgumentException that names it. Calls ask `cancellation` between documents; true
 * raises a CancellationException.
 */
trait LdaSolver {

  /**
   * Makes steps on the partition's next documents. The vector of the result is the topics after the steps, times
   * `r.share`. The bound is the bound of the sample at the shared topics.
   *
   * @param data
   *   a partition with at least one document
   * @param result
   *   of length `LdaLayout.length(V, K, r.concentration)`; with `r.concentration` the sums of E[log theta] follow the
   *   topics
   */
  def round(data: DocumentData, r: LdaRound, shared: Array[Byte], result: Array[Byte], cancellation: Cancellation): Unit

  /**
   * Computes the bound of some of the partition's documents at the shared topics.
   *
   * @param data
   *   a partition with at least `r.last` documents
   * @param result
   *   of length `ResultHeader.BYTES`: there is no vector
   */
  def bound(data: DocumentData, r: LdaBound, shared: Array[Byte], result: Array[Byte], cancellation: Cancellation): Unit
}

/**
 * The priors of the model.
 *
 * @param alpha
 *   prior of the topics in a document: K numbers, 1e-6 to 1e6
 * @param eta
 *   prior of a word in a topic, 1e-6 to 1e6
 */
final case class LdaPriors(alpha: Array[Double], eta: Double) {

  /** Number of topics, K. */
  def topics: Int = alpha.length
}

/** The range of priors. */
object LdaPriors {

  /** The least prior. Smaller numbers lose too many digits in single precision. */
  val Least: Double = 1e-6

  /** The greatest prior. Larger numbers lose too many digits in single precision. */
  val Greatest: Double = 1e6

  /** Whether solvers accept this number as alpha or eta. */
  def inRange(prior: Double): Boolean = prior >= Least && prior <= Greatest
}

/**
 * Settings of the search for a document's topics.
 *
 * @param tolerance
 *   the search ends when the mean change of gamma over the topics is less than this; finite and positive
 * @param cap
 *   the most iterations, at least 1. Fewer than 200 make the first pass over the documents much worse
 * @param overRelaxation
 *   how far beyond the new gamma the next iteration starts, relative to the change, 0 to 1; 0 starts at the new gamma
 * @param pruning
 *   a topic leaves a document if its share is less than this and does not rise, 0 to 0.5; with 0 no topic leaves
 * @param mean
 *   whether the factor of a word in a topic is the mean of the topic, instead of exp(E[log beta])
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
 *   documents in a step, at least 1
 * @param budget
 *   documents to visit, at least 1
 * @param cursor
 *   documents that the worker has visited since the start of the fit
 * @param seen
 *   documents that all workers have visited since the start of the fit
 * @param concentration
 *   whether the result contains the sums of E[log theta]
 * @param share
 *   factor of the result, 0 to 1: the worker's weight in the average of the topics
 * @param sample
 *   number of documents of the partition, from its first on, whose bound is computed
 * @param threads
 *   threads of the call, at least 1. They do not change the result
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
    sample: Int,
    threads: Int)

/**
 * The bound of documents `first` until `last` of a partition: 0 <= first < last.
 *
 * @param fit
 *   as in [[LdaRound]]
 * @param threads
 *   as in [[LdaRound]]
 */
final case class LdaBound(fit: Long, priors: LdaPriors, inference: Inference, first: Int, last: Int, threads: Int)
