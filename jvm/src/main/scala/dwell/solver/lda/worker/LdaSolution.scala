package dwell.solver.lda.worker

import dwell.record.FitFacts

/**
 * The topics found, with their priors.
 *
 * @param lambda
 *   length V K: parameters of the topics' Dirichlet distributions, prior included, of word w and topic k at `w K + k`
 * @param alpha
 *   prior of the topics in a document
 * @param facts
 *   what is known of the fit so far; `objective` is minus the bound on the log likelihood of a sample of the documents, per
 *   token
 */
final case class LdaSolution(lambda: Array[Double], alpha: Array[Double], facts: FitFacts)
