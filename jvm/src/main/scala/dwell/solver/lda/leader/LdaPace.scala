package dwell.solver.lda.leader

import dwell.solver.lda.contract.LdaSchedule

/**
 * How many documents each round has. Iterations are those of Spark: each sees a part of the corpus. One that is too
 * long for workers to stay together is cut into several rounds; an iteration of few documents stays a round of its own,
 * since the user has asked for so many. The first documents are for warming up: topics that begin at random take them
 * in long steps, of all workers together.
 *
 * It depends on the Params and on the number of documents alone.
 *
 * @param perIteration
 *   documents of all workers in an iteration, at least 1
 * @param iterations
 *   at least 0
 * @param warmup
 *   documents of all workers that are for warming up, at least 0
 */
final case class LdaPace(schedule: LdaSchedule, perIteration: Long, iterations: Int, warmup: Long) {

  /** Documents of all workers in all rounds. */
  def total: Long = perIteration * iterations

  /** Documents that a round of the first iteration has, at most. */
  def largestRound: Long = math.min(perIteration, schedule.stretch(0.0).toLong)

  /**
   * The next round.
   *
   * @param seen
   *   documents of all workers in the rounds before it
   * @return
   *   None where these were all
   */
  def next(seen: Long): Option[LdaPace.Round] =
    if (seen >= total) None
    else {
      val left = perIteration - seen % perIteration
      if (seen < warmup) {
        Some(LdaPace.Round(math.min(left, math.min(warmup - seen, math.max(1L, schedule.base.toLong))), warming = true))
      } else {
        val rounds = math.max(1.0, math.ceil(left / schedule.stretch(seen.toDouble)))
        Some(LdaPace.Round(math.max(1L, math.ceil(left / rounds).toLong), warming = false))
      }
    }
}

object LdaPace {

  /**
   * @param documents
   *   of all workers
   * @param warming
   *   each worker takes its documents in one step
   */
  final case class Round(documents: Long, warming: Boolean)
}
