package dwell.solver.newton.leader

import dwell.problem.RowLoss
import dwell.solver.linear.LinearSolution
import dwell.solver.pass.PassSums

/** Whether a model of two classes predicts one of them for nearly every row, as the optimum of a hinge can. */
private[newton] object OneClass {

  /** A class, or what a model predicts as one, that is no larger is rare. */
  private val Rare = 0.01

  /** Predictions times this are above 1 or below -1. */
  private val Far = 1e12

  /** The share of the weight that a model predicts as one class, where the other one is not rare and its prediction is; NaN elsewhere. */
  def share(workers: PassWorkers, task: NewtonTask, hinge: RowLoss, solution: LinearSolution): Double = {
    val classes = task.facts.labels.classWeights.map(_ / task.facts.labels.totalWeight)
    // A row on the wrong side has a loss of 1 at least.
    if (classes.min <= Rare || solution.facts.objective < classes.min - Rare) Double.NaN
    else {
      val far = workers.centred(solution.coefficients.map(_ * Far), solution.intercepts.map(_ * Far))
      val corner = Corner(hinge, gamma = 1.0, Array.emptyDoubleArray)
      // The slope of a row is 1 on the wrong side, and 0 on the right one.
      val Array(ofNegative, ofPositive) =
        workers.pass(far, PassSums.Gradient, Array.emptyDoubleArray, Some(corner), "predicted classes").slopes
      val positive = ofNegative + classes(1) - ofPositive
      Some(math.max(positive, 1.0 - positive)).filter(_ >= 1.0 - Rare).getOrElse(Double.NaN)
    }
  }
}
