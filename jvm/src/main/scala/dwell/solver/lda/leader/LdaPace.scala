package dwell.solver.lda.leader

import dwell.solver.lda.worker.LdaSchedule

/**
 * Chooses the number of documents of each round. As in Spark, each iteration visits a part of the corpus. An
 * iteration after which the workers would have drifted apart is cut into several rounds. A short iteration stays one
 * round, because the user has asked for that number of iterations.
 *
 * The pace depends only on the Params and on the number of documents.
 *
 * @param perIteration
 *   documents of all workers in an iteration, at least 1
 * @param iterations
 *   number of iterations, at least 0
 */
final case class LdaPace(schedule: LdaSchedule, perIteration: Long, iterations: Int) {

  /** Documents of all workers in all rounds. */
  def total: Long = perIteration * iterations

  /** The most documents of a round of the first iteration. */
  def largestRound: Long = math.min(perIteration, schedule.stretch(0.0).toLong)

  /**
   * Documents of all workers in the next round.
   *
   * @param seen
   *   documents of all workers in the rounds before it
   * @return
   *   None after the last round
   */
  def next(seen: Long): Option[Long] =
    if (seen >= total) None
    else {
      val left = perIteration - seen % perIteration
      val rounds = math.max(1.0, math.ceil(left / schedule.stretch(seen.toDouble)))
      Some(math.max(1L, math.ceil(left / rounds).toLong))
    }
}
