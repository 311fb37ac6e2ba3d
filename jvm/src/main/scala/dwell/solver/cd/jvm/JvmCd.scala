package dwell.solver.cd.jvm

import dwell.base.{Arguments, Patience}
import dwell.data.{ColumnData, LocalData, RowData}
import dwell.jni.{Cancellation, CdLayout, ResultHeader}
import dwell.solver.cd.contract.{CdSolver, DualSubproblem, MarginOperation, MarginSlice, PrimalSubproblem, RoundRequest, Subproblem, WorkerState}
import dwell.solver.problem.MarginLoss

/**
 * The local solver without native code. It runs where the library cannot load, and the tests compare the native solver
 * with it. It does the same arithmetic in the same order.
 */
final class JvmCd private[solver] (states: WorkerStates) extends CdSolver {

  override def name: String = "jvm"

  override def round(
      data: LocalData,
      r: RoundRequest,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Boolean = {
    val start = System.nanoTime()
    val calls = Calls(data, r, result)
    require(
      shared.length == 8L * data.vectorLength,
      s"shared has ${shared.length} bytes, but ${data.vectorLength} ${data.entryName}s need ${8L * data.vectorLength}")
    val kept = for {
      base <- states.beginRound(data.index, data.coordinates, r)
      (measured, step) = calls.round(shared, base.state, new Patience(cancellation)).run(result)
      stored <- states.publish(r.fit, data.index, base, step)
    } yield measured.write(result, start, base.state.stamp, WorkerStates.bytes(stored))
    kept.isDefined
  }

  override def product(data: LocalData, r: RoundRequest, result: Array[Byte], cancellation: Cancellation): Boolean = {
    val start = System.nanoTime()
    val calls = Calls(data, r, result)
    val kept = for {
      state <- states.beginProduct(data.index, data.coordinates, r)
      measured = calls.product(new Patience(cancellation)).run(state.alpha, result)
      stored <- states.publishProduct(r.fit, data.index, state)
    } yield measured.write(result, start, state.stamp, WorkerStates.bytes(stored))
    kept.isDefined
  }

  override def margins(
      loss: MarginLoss,
      intercept: Double,
      operation: MarginOperation,
      slice: MarginSlice,
      threads: Int): Array[Double] = new JvmMargins(loss, intercept, operation, slice).run()

  override def exportState(fit: Long, partition: Int): Option[WorkerState] = states.get(fit, partition)

  override def importState(fit: Long, partition: Int, s: WorkerState): Unit = states.set(fit, partition, s)

  override def free(fit: Long): Long = states.free(fit)

  override def expire(maxAgeMillis: Long): Long = states.expire(maxAgeMillis)

  override def stateBytes: Long = states.totalBytes

  override def stateEntries: Long = states.size
}

/** The store of worker states that all tasks of a JVM share. */
object JvmCd {

  /** The solver of this JVM. Its states outlive a task, so there is one for all tasks. */
  lazy val shared: JvmCd = new JvmCd(new WorkerStates())
}

/** The calls for one partition, in its orientation. */
private sealed trait Calls {

  /** A round from the state `start`. */
  def round(shared: Array[Byte], start: WorkerState, patience: Patience): LocalRound

  /** The product of the data with coordinates. */
  def product(patience: Patience): LocalProduct
}

private object Calls {
  import Arguments._

  private val MaxThreads = 256

  /** Checks the arguments of a call. */
  def apply(data: LocalData, r: RoundRequest, result: Array[Byte]): Calls = {
    require(
      result.length == ResultHeader.length(data.vectorLength),
      s"result has ${result.length} bytes, but ${data.vectorLength} ${data.entryName}s need " +
        s"${ResultHeader.length(data.vectorLength)}")
    require(data.index < r.stamps.length, s"there are ${r.stamps.length} stamps, but this is partition ${data.index}")
    require(r.threads >= 1 && r.threads <= MaxThreads, s"threads = ${r.threads}: must be 1 to $MaxThreads")
    require(!r.batch || r.threads == 1, s"threads = ${r.threads}: must be 1 in a batch")
    positive("sigma'", r.sigmaPrime)
    positive("total weight", r.totalWeight)
    require(
      r.points.length % 2 == 0 && r.points.length <= 2 * CdLayout.MAX_POINTS,
      s"points has ${r.points.length} numbers: two for each of at most ${CdLayout.MAX_POINTS} points")
    finite("points", r.points)
    (data, r.subproblem) match {
      case (columns: ColumnData, problem: PrimalSubproblem) => new Columns(columns, problem, r)
      case (rows: RowData, problem: DualSubproblem) => new Rows(rows, problem, r)
      case _ => Subproblem.mismatch(data, r.subproblem)
    }
  }

  private final class Columns(data: ColumnData, problem: PrimalSubproblem, r: RoundRequest) extends Calls {
    sameLength("weights", data.weights, data.vectorLength, "rows")
    atLeastZero("l1", problem.l1)
    atLeastZero("l2", problem.l2)
    atLeastZero("scale factor", problem.scaleFactor)
    private val penalty = new ElasticNet(data.partition, problem)

    override def round(shared: Array[Byte], start: WorkerState, patience: Patience): LocalRound =
      new PrimalRound(data, problem, r, shared, start, penalty, patience)

    override def product(patience: Patience): LocalProduct = new PrimalProduct(data, problem, penalty, patience)
  }

  private final class Rows(data: RowData, problem: DualSubproblem, r: RoundRequest) extends Calls {
    private val p = data.partition
    sameLength("scale", data.scale, p.features, "features")
    sameLength("labels", p.labels, p.numRows, "rows")
    sameLength("weights", p.weights, p.numRows, "rows")
    sameLength("norms", p.norms, p.numRows, "rows")
    sameLength("projections", p.projections, p.numRows, "rows")
    positive("l2", problem.l2)
    positive("total weight times l2", r.totalWeight * problem.l2)
    require(
      problem.intercept == 0.0 || p.projections != null,
      s"intercept = ${problem.intercept}: must be 0 where rows have no projections")
    atLeastZero("intercept", problem.intercept)
    finite("offset", Array(problem.offset))
    finite("candidates", problem.candidates)
    require(
      problem.candidates.length <= CdLayout.MAX_CANDIDATES,
      s"${problem.candidates.length} candidates, but there may be at most ${CdLayout.MAX_CANDIDATES}")
    require(
      problem.candidates.nonEmpty || !r.certificate,
      "a certificate needs a candidate for the intercept at least: pass 0 where there is no intercept")
    require(!problem.gradient || r.batch, "gradients are all taken at the same coefficients: they need a batch")
    problem.loss.labels.check(p.labels, problem.loss.toString)
    private val conjugates = new Conjugates(p, problem, r.totalWeight)

    override def round(shared: Array[Byte], start: WorkerState, patience: Patience): LocalRound =
      new DualRound(data, problem, r, shared, start, conjugates, patience)

    override def product(patience: Patience): LocalProduct = new DualProduct(data, conjugates, patience)
  }
}
