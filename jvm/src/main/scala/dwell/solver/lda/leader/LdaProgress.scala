package dwell.solver.lda.leader

import dwell.solver.lda.contract.{LdaPriors, LdaProblem}

/**
 * Where the rounds stand. It goes to the workers with each round, as it is after that one, so that whoever has to lead
 * next can go on. (But for alpha, of which nobody knows before the round what becomes of it: the next leader has that
 * of one round earlier.)
 *
 * @param version
 *   of the topics
 * @param rounds
 *   that have been made
 * @param cursors
 *   documents that each partition has visited
 * @param alpha
 *   prior of the topics in a document
 */
private[lda] final case class LdaProgress(version: Long, rounds: Int, cursors: Array[Long], alpha: Array[Double]) {

  /** Documents that all partitions have visited. */
  val seen: Long = cursors.sum

  def priors(problem: LdaProblem): LdaPriors = problem.priors.copy(alpha = alpha)

  /** After a round, but for what it makes of alpha. */
  def after(budgets: Array[Long]): LdaProgress =
    LdaProgress(version + 1L, rounds + 1, cursors.indices.map(k => cursors(k) + budgets(k)).toArray, alpha)
}
