package dwell.solver.lda.leader

import breeze.numerics.{digamma, trigamma}

import dwell.solver.lda.worker.LdaPriors

/**
 * Learns alpha, the prior of the topics in a document.
 *
 * Source: Huang, Maximum Likelihood Estimation of Dirichlet Distribution Parameters, 2005: Newton's method with a
 * Hessian that is a diagonal and a constant; as in Spark's `OnlineLDAOptimizer`.
 */
private[lda] object Concentration {

  /**
   * alpha after a Newton step:
   *
   * {{{
   *   g_k = N (psi(sum alpha) - psi(alpha_k)) + sums_k,   c = N psi'(sum alpha),   q_k = -N psi'(alpha_k)
   *   b = sum_k (g_k / q_k) / (1/c + sum_k 1/q_k),   alpha_k - rho (g_k - b) / q_k
   * }}}
   *
   * @param logThetaSums
   *   sum over the documents of E[log theta_k], for each topic
   * @param documents
   *   number of documents, N
   * @param rho
   *   length of the step, 0 to 1
   * @return
   *   the new alpha, or `alpha` itself if there are no documents or an entry would leave the range of [[LdaPriors]]
   */
  def newtonStep(alpha: Array[Double], logThetaSums: Array[Double], documents: Double, rho: Double): Array[Double] =
    if (documents <= 0.0) alpha
    else {
      val whole = alpha.sum
      val psi = digamma(whole)
      val c = documents * trigamma(whole)
      val gradient = alpha.indices.map(k => documents * (psi - digamma(alpha(k))) + logThetaSums(k))
      val q = alpha.map(a => -documents * trigamma(a))
      val above = alpha.indices.map(k => gradient(k) / q(k)).sum
      val below = 1.0 / c + q.map(1.0 / _).sum
      val b = above / below
      val next = Array.tabulate(alpha.length)(k => alpha(k) - rho * (gradient(k) - b) / q(k))
      if (next.forall(LdaPriors.inRange)) next else alpha
    }
}
