package dwell.solver.lda.leader

import dwell.report.RoundRecord

/**
 * What the rounds of a fit led to, as [[dwell.solver.lda.contract.LdaSolution]] has it.
 *
 * @param topics
 *   lambda without its prior, as it travels
 */
private[solver] final case class TrainedTopics(
    topics: Array[Byte],
    alpha: Array[Double],
    objective: Double,
    solver: String,
    records: Seq[RoundRecord])
