package dwell.solver.sgd.jvm

import dwell.base.{Finite, Patience}
import dwell.solver.problem.StepSchedule
import dwell.solver.sgd.contract.SgdProblem

/**
 * Makes steps on one row after the other.
 *
 * @param steps
 *   rows visited before the first one, for the schedule
 */
private[sgd] final class LocalDescent(
    rows: SgdRows,
    problem: SgdProblem,
    schedule: StepSchedule,
    steps: Long,
    model: LazyModel,
    patience: Patience) {
  private val loss = RowLoss(problem.loss)
  private val z, g = new Array[Double](rows.outputs)

  /** The rows visited so far. */
  val visited = new Visited

  /** Makes a step on row i. Returns false, without a step, if a prediction, a loss or a derivative is not finite. */
  def step(i: Int): Boolean = {
    patience.spend(rows.length(i) * rows.outputs)
    val s = rows.weight(i)
    val factor = s * problem.weightFactor
    model.predict(i, z)
    val value = s * loss.at(z, rows.label(i), g)
    var c = 0
    while (c < g.length) {
      g(c) = factor * g(c)
      c += 1
    }
    val finite = Finite.all(z) && Finite.all(g) && visited.add(value, s, rows.length(i))
    if (finite) model.step(i, schedule.at(steps + visited.rows - 1L), g)
    finite
  }
}
