package dwell.solver.sgd.contract

import dwell.jni.SgdLayout
import dwell.fit.ResultHeaders

/** Norms of a model's coefficients in the metric of the penalties, u_j = 1 / sqrt(scale_j). Intercepts do not count. */
private[sgd] final case class ModelNorms(l1: Double, square: Double) {

  /** What the model is penalised with. */
  def penalty(problem: SgdProblem): Double = problem.l1 * l1 + 0.5 * (problem.l2 * square)
}

private[sgd] object ModelNorms {

  /** Those of the shared model, as the workers report them; an empty partition reports none. */
  def shared(headers: ResultHeaders): ModelNorms =
    ModelNorms(headers.largest(SgdLayout.L1_NORM), headers.largest(SgdLayout.SQUARE_NORM))
}
