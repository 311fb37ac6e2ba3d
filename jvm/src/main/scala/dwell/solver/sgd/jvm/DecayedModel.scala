package dwell.solver.sgd.jvm

import dwell.solver.sgd.contract.SgdProblem

/**
 * The last model of a descent without an L1 penalty. A step changes coefficients outside its row by the factor alone.
 */
private[sgd] final class DecayedModel(rows: SgdRows, problem: SgdProblem, start: Array[Double])
    extends LazyModel(rows, problem, start) {

  override protected def elapse(eta: Double): Unit = if (a < LazyModel.LeastFactor) multiplyOut()

  override def decay: Option[Seq[Double]] = Some(multiplied.toSeq)

  override def result(): Array[Double] = {
    multiplyOut()
    x
  }
}
