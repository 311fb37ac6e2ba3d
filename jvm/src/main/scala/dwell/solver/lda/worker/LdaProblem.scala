package dwell.solver.lda.worker

import dwell.fit.{Aggregation, FitProblem, SolverSettings}

/**
 * A topic model to train: latent Dirichlet allocation (Blei, Ng, Jordan, JMLR 3, 2003), by stochastic variational
 * inference.
 *
 * @param priors
 *   priors at the start; the length of their alpha is the number of topics
 * @param fraction
 *   share of the documents that an iteration visits, more than 0 and at most 1
 * @param iterations
 *   number of iterations, at least 0
 * @param localBatch
 *   documents of a worker's step; None chooses by the number of workers
 * @param learnAlpha
 *   whether alpha is learned
 * @param aggregation
 *   None chooses by what the cluster allows
 * @param seed
 *   seed of the initial topics and of the order of documents
 */
final case class LdaProblem(
    uid: String,
    priors: LdaPriors,
    schedule: LdaSchedule,
    fraction: Double,
    iterations: Int,
    localBatch: Option[Int],
    learnAlpha: Boolean,
    aggregation: Option[Aggregation],
    seed: Long,
    settings: SolverSettings,
    inference: Inference = Inference())
    extends FitProblem
