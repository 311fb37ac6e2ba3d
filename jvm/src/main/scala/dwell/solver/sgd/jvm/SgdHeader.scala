package dwell.solver.sgd.jvm

import dwell.base.ResultLayout
import dwell.solver.sgd.contract.{ModelNorms, SgdLayout}

/** The header of a result, from the call of the solver on. */
private[sgd] final class SgdHeader(result: Array[Byte]) {
  private val start = System.nanoTime()
  private val slots = new Array[Double](ResultLayout.FirstFreeSlot)

  def put(slot: Int, value: Double): Unit = slots(slot) = value

  def visited(visited: Visited): Unit = {
    put(SgdLayout.LossSum, visited.valueSum)
    put(SgdLayout.WeightSum, visited.weightSum)
    put(SgdLayout.Rows, visited.rows.toDouble)
    put(SgdLayout.Nonzeros, visited.nonzeros.toDouble)
  }

  def diverged(): Unit = {
    put(SgdLayout.Diverged, 1.0)
    put(SgdLayout.LossSum, Double.PositiveInfinity)
  }

  /** Norms of the shared model. */
  def norms(norms: ModelNorms): Unit = {
    put(SgdLayout.L1Norm, norms.l1)
    put(SgdLayout.SquareNorm, norms.square)
  }

  /** Norms of what a descent has reached. */
  def reached(norms: ModelNorms): Unit = {
    put(SgdLayout.ReachedL1Norm, norms.l1)
    put(SgdLayout.ReachedSquareNorm, norms.square)
  }

  /** What coefficients that no step has touched were multiplied by. */
  def decay(factors: Seq[Double]): Unit = if (factors.size <= SgdLayout.MaxDecays) {
    put(SgdLayout.Decays, factors.size.toDouble)
    factors.indices.foreach(k => put(SgdLayout.Decay + k, factors(k)))
  }

  /** Where the next call goes on. */
  def place(cursor: Long, steps: Long): Unit = {
    put(SgdLayout.Cursor, cursor.toDouble)
    put(SgdLayout.Steps, steps.toDouble)
  }

  /** Fills the solver's slots of the result, with the time until now. */
  def write(): Unit = {
    put(SgdLayout.SolverNanos, (System.nanoTime() - start).toDouble)
    slots.indices.foreach(slot => ResultLayout.put(result, slot, slots(slot)))
  }
}
