package dwell.solver.lda.leader

import dwell.solver.average.AveragedRounds
import dwell.solver.lda.worker.{LdaPriors, LdaProblem}

/**
 * The progress of the rounds. With each round, the leader sends the workers the progress after that round, so that a
 * later leader can continue from it. Its alpha lags one round behind, because a round's update of alpha is known only
 * afterwards.
 *
 * @param version
 *   version of the topics
 * @param rounds
 *   completed rounds
 * @param cursors
 *   documents that each partition has visited
 * @param alpha
 *   prior of the topics in a document
 */
private[lda] final case class LdaProgress(version: Long, rounds: Int, cursors: Array[Long], alpha: Array[Double])
    extends AveragedRounds.Progress[LdaProgress] {

  override def next: Long = version + 1L

  override def from(version: Long): LdaProgress = copy(version = version)

  /** Documents that all partitions have visited. */
  val seen: Long = cursors.sum

  /** The priors of `problem` with the present alpha. */
  def priors(problem: LdaProblem): LdaPriors = problem.priors.copy(alpha = alpha)

  /** The progress after a round in which each partition visits `budgets` documents, with the alpha of before. */
  def after(budgets: Array[Long]): LdaProgress =
    LdaProgress(next, rounds + 1, cursors.indices.map(k => cursors(k) + budgets(k)).toArray, alpha)
}
