package dwell.solver.sgd.jvm

import dwell.jni.{ResultHeader, SgdLayout}
import dwell.base.{Finite, Patience}
import dwell.solver.sgd.contract.{Search}

/**
 * Measures the objective after descent with each candidate for the first step size.
 *
 * @param sequence
 *   the rows, positioned at the first one to visit
 */
private[sgd] final class StepSearch(
    rows: SgdRows,
    r: Search,
    start: Array[Double],
    sequence: RowSequence,
    patience: Patience) {
  private val count = if (rows.count == 0) 0 else math.min(r.budget, math.max(1, rows.count / 2)).toInt
  private val forSteps = Array.fill(count)(sequence.next())
  private val forLosses = Array.fill(count)(sequence.next())

  private val weightSum = forLosses.foldLeft(0.0)((sum, i) => sum + rows.weight(i))
  private var visited, nonzeros = 0L

  /** The objective after descent with `eta0` as the first step size; infinite if something is not finite. */
  private def objective(eta0: Double): Double = {
    val model = DescentModel(rows, r.problem, start, mean = false)
    val descent = new LocalDescent(rows, r.problem, r.schedule.copy(eta0 = eta0), r.steps, model, patience)
    val stepped = forSteps.forall(i => descent.step(i))
    count(descent.visited)
    if (!stepped) Double.PositiveInfinity else objectiveAt(model.result())
  }

  private def objectiveAt(model: Array[Double]): Double =
    if (!Finite.all(model)) Double.PositiveInfinity
    else {
      val pass = new ModelPass(rows, RowLoss(r.problem.loss), model, patience)
      val finite = forLosses.forall(i => pass.visit(i))
      count(pass.visited)
      val loss = if (count == 0) 0.0 else pass.visited.valueSum / weightSum
      val objective = loss + rows.norms(model).penalty(r.problem)
      if (finite && Finite(objective)) objective else Double.PositiveInfinity
    }

  private def count(rows: Visited): Unit = {
    visited += rows.rows
    nonzeros += rows.nonzeros
  }

  /** Tries all candidates, and writes their objectives into the header. */
  def run(header: SgdHeader): Unit = {
    r.candidates.indices.foreach(k => header.put(SgdLayout.OBJECTIVES + k, objective(r.candidates(k))))
    header.put(SgdLayout.WEIGHT_SUM, weightSum)
    header.put(SgdLayout.ROWS, visited.toDouble)
    header.put(ResultHeader.NONZEROS, nonzeros.toDouble)
  }
}
