package dwell.solver.lda.leader

import dwell.record.FitFacts

/**
 * The result of the rounds of a fit. [[dwell.solver.lda.worker.LdaSolution]] describes the fields.
 *
 * @param topics
 *   lambda without its prior, in the bytes that travel
 */
private[solver] final case class TrainedTopics(topics: Array[Byte], alpha: Array[Double], facts: FitFacts)
