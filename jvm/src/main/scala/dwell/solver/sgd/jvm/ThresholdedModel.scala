package dwell.solver.sgd.jvm

import dwell.base.kernel.SoftThreshold
import dwell.solver.sgd.contract.SgdProblem

/**
 * The last model of a descent with an L1 penalty. Soft thresholds add up and commute with positive factors. All steps
 * since the last update of a coefficient are therefore one threshold, the growth of a sum.
 */
private[sgd] final class ThresholdedModel(rows: SgdRows, problem: SgdProblem, start: Array[Double])
    extends LazyModel(rows, problem, start) {

  /** Sum of eta l1 / a over the steps since the last renormalisation, B. */
  private var threshold = 0.0
  private var steps = 0

  /** B at the last update of each feature. */
  private val updated = new Array[Double](rows.features)

  override protected def update(j: Int): Unit = {
    val amount = rows.root(j) * (threshold - updated(j))
    if (amount != 0.0) {
      var at = j * outputs
      while (at < (j + 1) * outputs) {
        x(at) = SoftThreshold(x(at), amount)
        at += 1
      }
    }
    updated(j) = threshold
  }

  override protected def elapse(eta: Double): Unit = {
    threshold += (eta * problem.l1) / a
    steps += 1
    if (a < LazyModel.LeastFactor || steps == LazyModel.MaxHistory) {
      updateAll()
      multiplyOut()
      java.util.Arrays.fill(updated, 0.0)
      threshold = 0.0
      steps = 0
    }
  }

  override def result(): Array[Double] = {
    updateAll()
    multiplyOut()
    x
  }
}
