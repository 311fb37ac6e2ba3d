package dwell.solver.sgd.contract

import dwell.fit.ResultHeaders
import dwell.solver.sgd.jvm.SgdRows

/** Norms of a model's coefficients in the metric of the penalties, u_j = 1 / sqrt(scale_j). Intercepts do not count. */
private[sgd] final case class ModelNorms(l1: Double, square: Double) {

  /** What the model is penalised with. */
  def penalty(problem: SgdProblem): Double = problem.l1 * l1 + 0.5 * (problem.l2 * square)
}

private[sgd] object ModelNorms {

  /** Those of the shared model, as the workers report them; an empty partition reports none. */
  def shared(headers: ResultHeaders): ModelNorms =
    ModelNorms(headers.largest(SgdLayout.L1Norm), headers.largest(SgdLayout.SquareNorm))

  def of(w: Array[Double], rows: SgdRows): ModelNorms = {
    var l1, square = 0.0
    var at = 0
    var j = 0
    while (j < rows.features) {
      val end = at + rows.outputs
      // A feature that is left out has coefficients of 0.
      if (rows.scale(j) != 0.0) {
        while (at < end) {
          l1 += math.abs(w(at)) / rows.root(j)
          square += (w(at) * w(at)) / rows.scale(j)
          at += 1
        }
      }
      at = end
      j += 1
    }
    ModelNorms(l1, square)
  }
}
