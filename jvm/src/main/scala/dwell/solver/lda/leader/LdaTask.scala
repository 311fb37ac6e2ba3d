package dwell.solver.lda.leader

import dwell.jni.LdaLayout
import dwell.solver.lda.contract.{LdaProblem, LdaSchedule}

/**
 * Topics to be found in documents, as the parts of the leader share it.
 *
 * @param vocabulary
 *   words of the vocabulary, V
 * @param documents
 *   of each partition; at least one has some
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

  /** Iterations of fewer documents than a full step has are full steps nevertheless, as they are in Spark. */
  val schedule: LdaSchedule = problem.schedule.copy(base = math.min(problem.schedule.base, perIteration.toDouble))

  val pace: LdaPace = LdaPace(schedule, perIteration, problem.iterations, problem.warmup)

  /** Documents of a worker's step. */
  def batch: Int = problem.localBatch.getOrElse(math.max(LeastBatch, math.ceil(schedule.base / workers).toInt))

  /**
   * Documents of each partition, from its first on, that tell how good topics are: each has its share of them. A bound
   * takes about as long as two visits, and a twentieth of a round is what may be spent on it.
   */
  def sample: Array[Int] =
    budgets(math.max(LeastSample, math.min(LargestSample, pace.largestRound / 40))).zip(documents).map {
      case (part, all) => math.min(part, all.toLong).toInt
    }

  /**
   * Documents of each partition where all together visit about so many. Each partition that has documents visits one at
   * least, so that its topics count.
   */
  def budgets(all: Long): Array[Long] =
    documents.map(held => if (held == 0) 0L else math.max(1L, math.round(all.toDouble * held / corpus)))
}

private[lda] object LdaTask {

  /** Smaller batches make topics noisy, and share too little of what is computed for each word. */
  private val LeastBatch = 125

  /** Documents. */
  private val LeastSample = 16L
  private val LargestSample = 128L
}
