package dwell.solver.lda.worker

import dwell.record.RoundRecord

/**
 * The topics found, with their priors.
 *
 * @param lambda
 *   length V K: parameters of the topics' Dirichlet distributions, prior included, of word w and topic k at `w K + k`
 * @param alpha
 *   prior of the topics in a document
 * @param objective
 *   minus the bound on the log likelihood of a sample of the documents, per token
 * @param aggregation
 *   the mode that was used
 * @param aggregationReason
 *   why this mode was used
 * @param restarts
 *   times that the rounds began again, from what was left with the workers
 */
final case class LdaSolution(
    lambda: Array[Double],
    alpha: Array[Double],
    objective: Double,
    aggregation: String,
    aggregationReason: String,
    restarts: Int,
    rounds: Seq[RoundRecord])
