package dwell.solver

import java.util.concurrent.CancellationException

import dwell.data.ColumnPartition
import dwell.jni.Cancellation

/**
 * The local solver without native code: what runs where the library cannot load, and what the native solver is
 * compared with. It does the same arithmetic in the same order.
 */
final class JvmSolver private[solver] (states: WorkerStates) extends LocalSolver {

  override def name: String = "jvm"

  override def round(
      p: ColumnPartition,
      weights: Array[Double],
      r: RoundRequest,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Boolean = {
    val start = System.nanoTime()
    JvmSolver.check(p, weights, r, result)
    require(shared.length == 8L * p.rows, s"shared has ${shared.length} bytes, but ${p.rows} rows need ${8L * p.rows}")
    val kept = for {
      base <- states.beginRound(p.index, p.numColumns, r)
      state = base.state
      work = new PrimalRound(p, weights, r, shared, state.alpha, state.cursor, new Patience(cancellation))
      measured = work.run(result)
      stored <- states.publish(r.fit, p.index, base, PendingStep(r.round, work.cursor, work.delta))
    } yield measured.write(result, start, state.stamp, WorkerStates.bytes(stored))
    kept.isDefined
  }

  override def product(
      p: ColumnPartition,
      weights: Array[Double],
      r: RoundRequest,
      result: Array[Byte],
      cancellation: Cancellation): Boolean = {
    val start = System.nanoTime()
    JvmSolver.check(p, weights, r, result)
    val kept = for {
      state <- states.beginProduct(p.index, p.numColumns, r)
      measured = PrimalProduct.run(p, r, state.alpha, result, new Patience(cancellation))
      stored <- states.publishProduct(r.fit, p.index, state)
    } yield measured.write(result, start, state.stamp, WorkerStates.bytes(stored))
    kept.isDefined
  }

  override def exportState(fit: Long, partition: Int): Option[WorkerState] = states.get(fit, partition)

  override def importState(fit: Long, partition: Int, s: WorkerState): Unit = states.set(fit, partition, s)

  override def free(fit: Long): Long = states.free(fit)

  override def expire(maxAgeMillis: Long): Long = states.expire(maxAgeMillis)

  override def stateBytes: Long = states.totalBytes

  override def stateEntries: Long = states.size
}

object JvmSolver {

  /** The solver of this JVM. Its states outlive a task, so there is one for all tasks. */
  lazy val shared: JvmSolver = new JvmSolver(new WorkerStates())

  private def check(p: ColumnPartition, weights: Array[Double], r: RoundRequest, result: Array[Byte]): Unit = {
    require(
      weights == null || weights.length == p.rows,
      s"weights has length ${weights.length}, but there are ${p.rows} rows")
    require(
      result.length == ResultLayout.length(p.rows),
      s"result has ${result.length} bytes, but ${p.rows} rows need ${ResultLayout.length(p.rows)}")
    require(p.index < r.stamps.length, s"there are ${r.stamps.length} stamps, but this is partition ${p.index}")
    def atLeastZero(name: String, value: Double): Unit =
      require(value >= 0.0 && !value.isInfinite, s"$name = $value: must be finite and at least 0")
    require(r.sigmaPrime > 0.0 && !r.sigmaPrime.isInfinite, s"sigma' = ${r.sigmaPrime}: must be finite and positive")
    require(
      r.totalWeight > 0.0 && !r.totalWeight.isInfinite,
      s"total weight = ${r.totalWeight}: must be finite and positive")
    atLeastZero("l1", r.l1)
    atLeastZero("l2", r.l2)
    atLeastZero("scale factor", r.scaleFactor)
  }
}

/** Asks for cancellation every millisecond or so of work. */
private[solver] final class Patience(cancellation: Cancellation) {
  private var left = 0L

  /** Accounts for work on `nonzeros` nonzeros. */
  def spend(nonzeros: Int): Unit = {
    left -= nonzeros + Patience.PerColumn
    if (left <= 0L) {
      left = Patience.Slice
      if (cancellation.requested()) throw new CancellationException("the task was cancelled")
    }
  }
}

private[solver] object Patience {
  private val Slice = 200000L

  /** Work on a column apart from its nonzeros, in nonzeros. */
  private val PerColumn = 8
}

/** What a call measured, for the header of its result. */
private[solver] final case class Measured(
    penaltyBefore: Double,
    penaltyAfter: Double,
    conjugate: Double,
    ratio: Double,
    correlation: Double,
    coordinates: Long,
    nonzeros: Long,
    kappa: Double) {

  def write(result: Array[Byte], startNanos: Long, stamp: Long, stateBytes: Long): Unit = {
    ResultLayout.put(result, ResultLayout.PenaltyBefore, penaltyBefore)
    ResultLayout.put(result, ResultLayout.PenaltyAfter, penaltyAfter)
    ResultLayout.put(result, ResultLayout.Conjugate, conjugate)
    ResultLayout.put(result, ResultLayout.Ratio, ratio)
    ResultLayout.put(result, ResultLayout.Correlation, correlation)
    ResultLayout.put(result, ResultLayout.Coordinates, coordinates.toDouble)
    ResultLayout.put(result, ResultLayout.Nonzeros, nonzeros.toDouble)
    ResultLayout.put(result, ResultLayout.StateBytes, stateBytes.toDouble)
    ResultLayout.put(result, ResultLayout.Stamp, stamp.toDouble)
    ResultLayout.put(result, ResultLayout.Kappa, kappa)
    ResultLayout.put(result, ResultLayout.SolverNanos, (System.nanoTime() - startNanos).toDouble)
  }
}
