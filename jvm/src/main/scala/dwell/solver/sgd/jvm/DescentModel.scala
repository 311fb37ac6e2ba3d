package dwell.solver.sgd.jvm

import dwell.solver.sgd.contract.SgdProblem

/** Chooses the representation of the model that a descent moves. */
private[sgd] object DescentModel {

  /** The last model of a descent, or the mean of the models after each step. */
  def apply(rows: SgdRows, problem: SgdProblem, start: Array[Double], mean: Boolean): LazyModel =
    (problem.l1 > 0.0, mean) match {
      case (false, false) => new DecayedModel(rows, problem, start)
      case (true, false) => new ThresholdedModel(rows, problem, start)
      case (false, true) => new DecayedMean(rows, problem, start)
      case (true, true) => new ThresholdedMean(rows, problem, start)
    }
}
