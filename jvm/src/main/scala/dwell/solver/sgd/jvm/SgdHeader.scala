package dwell.solver.sgd.jvm

import dwell.jni.{ResultHeader, SgdLayout}
import dwell.solver.sgd.contract.{ModelNorms}

/** The header of a result. Its clock starts with the call of the solver. */
private[sgd] final class SgdHeader(result: Array[Byte]) {
  private val start = System.nanoTime()
  private val slots = new Array[Double](ResultHeader.FIRST_FREE)

  /** Sets a slot; nothing reaches the result before [[write]]. */
  def put(slot: Int, value: Double): Unit = slots(slot) = value

  /** Sets the sums over the visited rows. */
  def visited(visited: Visited): Unit = {
    put(SgdLayout.LOSS_SUM, visited.valueSum)
    put(SgdLayout.WEIGHT_SUM, visited.weightSum)
    put(SgdLayout.ROWS, visited.rows.toDouble)
    put(ResultHeader.NONZEROS, visited.nonzeros.toDouble)
  }

  /** Marks the call as diverged. */
  def diverged(): Unit = {
    put(SgdLayout.DIVERGED, 1.0)
    put(SgdLayout.LOSS_SUM, Double.PositiveInfinity)
  }

  /** Sets the norms of the shared model. */
  def norms(norms: ModelNorms): Unit = {
    put(SgdLayout.L1_NORM, norms.l1)
    put(SgdLayout.SQUARE_NORM, norms.square)
  }

  /** Sets the norms of the model that descent has reached. */
  def reached(norms: ModelNorms): Unit = {
    put(SgdLayout.REACHED_L1_NORM, norms.l1)
    put(SgdLayout.REACHED_SQUARE_NORM, norms.square)
  }

  /** Sets the factors of coefficients that no step has touched, if they fit into the header. */
  def decay(factors: Seq[Double]): Unit = if (factors.size <= SgdLayout.MAX_FACTORS) {
    put(SgdLayout.FACTORS, factors.size.toDouble)
    factors.indices.foreach(k => put(SgdLayout.FACTOR + k, factors(k)))
  }

  /** Sets the place at which the next call continues. */
  def place(cursor: Long, steps: Long): Unit = {
    put(SgdLayout.CURSOR, cursor.toDouble)
    put(SgdLayout.STEPS, steps.toDouble)
  }

  /** Fills the solver's slots of the result, with the time until now. */
  def write(): Unit = {
    put(ResultHeader.SOLVER_NANOS, (System.nanoTime() - start).toDouble)
    slots.indices.foreach(slot => ResultHeader.put(result, slot, slots(slot)))
  }
}
