package dwell.solver.lda.leader

import dwell.jni.LdaLayout
import dwell.solver.lda.worker.{LdaProblem, LdaSchedule}

/**
 * The problem with the size of its documents, for all parts of the leader.
 *
 * @param vocabulary
 *   words of the vocabulary, V
 * @param documents
 *   number of documents of each partition; at least one is positive
 */
private[solver] final case class LdaTask(problem: LdaProblem, vocabulary: Int, documents: Array[Int]) {
  import LdaTask._

  /** Entries of 8 bytes in a vector of topics. */
  def vectorLength: Int = LdaLayout.vectorBytes(vocabulary, problem.priors.topics) / 8

  /** Documents of all partitions, D. */
  val corpus: Long = documents.map(_.toLong).sum

  /** Partitions with documents, W. */
  val workers: Int = documents.count(_ > 0)

  private val perIteration = math.max(1L, math.ceil(problem.fraction * corpus).toLong)

  /**
   * The schedule of the steps. An iteration with fewer documents than a full step makes a full step too, as in Spark.
   */
  val schedule: LdaSchedule = problem.schedule.copy(base = math.min(problem.schedule.base, perIteration.toDouble))

  /** The sizes of the rounds. */
  val pace: LdaPace = LdaPace(schedule, perIteration, problem.iterations)

  /** Documents of a worker's step. */
  def batch: Int = problem.localBatch.getOrElse(math.max(LeastBatch, math.ceil(schedule.base / workers).toInt))

  /**
   * Number of documents of each partition, from its first on, that measure the quality of topics, in proportion to its
   * documents. The bound of a document takes about as long as two visits, and may take a twentieth of a round.
   */
  def sample: Array[Int] =
    budgets(math.max(LeastSample, math.min(LargestSample, pace.largestRound / 40))).zip(documents).map {
      case (part, all) => math.min(part, all.toLong).toInt
    }

  /**
   * Number of documents that each partition visits if all together visit about `all`. Each partition with documents
   * visits at least one, so that its topics count.
   */
  def budgets(all: Long): Array[Long] =
    documents.map(held => if (held == 0) 0L else math.max(1L, math.round(all.toDouble * held / corpus)))
}

private[lda] object LdaTask {

  /** Smaller batches make topics noisy, and share too little of the work for each word. */
  private val LeastBatch = 125

  /** Bounds of the sample, in documents. */
  private val LeastSample = 16L
  private val LargestSample = 128L
}
