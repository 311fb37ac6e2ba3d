package dwell.solver.rows.worker

import dwell.fit.ResultHeaders
import dwell.jni.SgdLayout

/** Norms of a model's coefficients in the metric of the penalties, u_j = 1 / sqrt(scale_j), without intercepts. */
private[rows] final case class ModelNorms(l1: Double, square: Double) {

  /** The penalty of the model. */
  def penalty(problem: RowObjective): Double = problem.penalty.l1 * l1 + 0.5 * (problem.penalty.l2 * square)
}

private[rows] object ModelNorms {

  /** The norms of the shared model, from the workers' headers. An empty partition reports 0. */
  def shared(headers: ResultHeaders): ModelNorms =
    ModelNorms(headers.largest(SgdLayout.L1_NORM), headers.largest(SgdLayout.SQUARE_NORM))
}
