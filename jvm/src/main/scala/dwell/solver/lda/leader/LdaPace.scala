package dwell.solver.lda.leader

import dwell.solver.lda.worker.LdaSchedule

/**
 * Chooses the number of documents of each round. As in Spark, each iteration visits a part of the corpus. An
 * iteration after which the workers would have drifted apart is cut into several rounds. A short iteration stays one
 * round, because the user has asked for that number of iterations. The first documents are for warming up: the random
 * initial topics take them in long steps of all workers together.
 *
 * The pace depends only on the Params and on the number of documents.
 *
 * @param perIteration
 *   documents of all workers in an iteration, at least 1
 * @param iterations
 *   number of iterations, at least 0
 * @param warmup
 *   documents of all workers for warming up, at least 0
 */
final case class LdaPace(schedule: LdaSchedule, perIteration: Long, iterations: Int, warmup: Long) {

  /** Documents of all workers in all rounds. */
  def total: Long = perIteration * iterations

  /** The most documents of a round of the first iteration. */
  def largestRound: Long = math.min(perIteration, schedule.stretch(0.0).toLong)

  /**
   * The next round.
   *
   * @param seen
   *   documents of all workers in the rounds before it
   * @return
   *   None after the last round
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

/** The pace of a fit in rounds. */
object LdaPace {

  /**
   * The size of a round.
   *
   * @param documents
   *   documents of all workers
   * @param warming
   *   whether each worker takes its documents in one step
   */
  final case class Round(documents: Long, warming: Boolean)
}
