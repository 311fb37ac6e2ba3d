package dwell.solver.lda.leader

import dwell.comm.Replicas
import dwell.comm.wire.Numbers
import dwell.fit.{Attempt, FitPlan, Timeline}
import dwell.jni.LdaLayout
import dwell.report.RoundRecord
import dwell.solver.lda.contract.{LdaMessage, LdaProblem, LdaReply, LdaSchedule}

/**
 * A fit of topics.
 *
 * @param vocabulary
 *   words of the vocabulary, V
 * @param documents
 *   of each partition; at least one has some
 */
private[solver] final case class LdaPlan(id: Long, problem: LdaProblem, vocabulary: Int, documents: Array[Int])
    extends FitPlan[LdaMessage, LdaReply, TrainedTopics] {
  import LdaPlan._

  override def vectorLength: Int = LdaLayout.vectorBytes(vocabulary, problem.priors.topics) / 8

  override def numbers: Numbers = Numbers.Floats

  /** Topics are as long as the vocabulary for each of them. */
  override def fitsDriver: Boolean = false

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
   * Documents of each partition, from its first on, that tell how good topics are: each has its share of them. A bound takes
   * about as long as two visits, and a twentieth of a round is what may be spent on it.
   */
  def sample: Array[Int] =
    budgets(math.max(LeastSample, math.min(LargestSample, pace.largestRound / 40))).zip(documents).map {
      case (part, all) => math.min(part, all.toLong).toInt
    }

  /**
   * Documents of each partition where all together visit about so many. Each partition that has documents visits one at least, so
   * that its topics count.
   */
  def budgets(all: Long): Array[Long] =
    documents.map(held => if (held == 0) 0L else math.max(1L, math.round(all.toDouble * held / corpus)))

  override def lead(workers: Replicas[LdaMessage, LdaReply], attempt: Attempt)(
      completed: RoundRecord => Unit): TrainedTopics = {
    val asked = new LdaWorkers(workers, this, attemptId(attempt.number))
    new LdaAveraging(asked, this, attempt, new Timeline(completed)).run()
  }
}

private[lda] object LdaPlan {

  /** Smaller batches make topics noisy, and share too little of what is computed for each word. */
  private val LeastBatch = 125

  /** Documents. */
  private val LeastSample = 16L
  private val LargestSample = 128L
}
