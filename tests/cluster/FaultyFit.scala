package dwell.solver

import java.nio.file.{FileAlreadyExistsException, Files, Path, Paths}
import java.util.concurrent.atomic.AtomicInteger

import scala.util.Random

import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD

import dwell.comm.Workers
import dwell.comm.wire.Contribution
import dwell.data.{LocalData, TrainingReader, TrainingRows}
import dwell.data.rows.BlockData
import dwell.data.block.LabeledRow
import dwell.fit.{Aggregation, FitRunner, SolverSettings}
import dwell.problem.{Algorithm, Logistic, Orientation, Penalty, Squared}
import dwell.record.FitFacts
import dwell.solver.cd.worker.{CdMessage, CdStep, CoordinateMessage, NativeCd, RowsMessage, WorkerState}
import dwell.solver.linear.LinearProblem
import dwell.solver.network.{NetworkDescent, NetworkLosses, NetworkMessage, NetworkProblem, NetworkSearch, NetworkStep}
import dwell.solver.pass.{PassMessage, PassStep}
import dwell.solver.rows.worker.{DescendCall, PassCall, SearchCall, SgdMessage, SgdStep}
import dwell.spark.NativeLibrary

/**
 * A fault in an exchange.
 *
 * @param phase
 *   the purpose of the exchange: see [[Asked]]
 * @param from
 *   number of the first round in which it can happen
 * @param afterWork
 *   whether it happens after the worker has done its part of the exchange
 * @param again
 *   whether it happens every time, rather than once for all places where the worker runs
 */
private[dwell] final case class Fault(
    what: Fault.Kind,
    phase: String = "round",
    from: Long = 0L,
    partition: Int = 0,
    afterWork: Boolean = false,
    again: Boolean = false) {

  def concerns(asked: Asked): Boolean =
    asked.phase == phase && asked.round >= from && asked.partition == partition
}

private[dwell] object Fault {
  sealed trait Kind extends Serializable
  case object Throw extends Kind
  case object KillExecutor extends Kind
  final case class Sleep(millis: Long) extends Kind

  /** Replaces the worker's state by one that the fit does not know; only in a fit by coordinate descent. */
  case object LoseState extends Kind

  /** Message of the exception. */
  val Message = "made to fail"
}

/**
 * The properties of a message that decide whether a fault happens.
 *
 * @param phase
 *   name of the [[dwell.solver.cd.worker.Phase]], or in other kinds of fit the name of the call
 * @param round
 *   number of the worker's round; 0 if the message does not contain it
 * @param loseState
 *   carries out [[Fault.LoseState]]
 */
private[solver] final case class Asked(phase: String, round: Long, partition: Int, loseState: () => Unit = () => ())

private[solver] object Asked {

  def coordinates(data: LocalData, message: CdMessage): Asked = {
    message match {
      case CoordinateMessage(phase, request) =>
        def foreign = WorkerState.zero(data.coordinates).copy(stamp = 1L << 40)
        Asked(phase.name, request.round, data.index, () => NativeCd.importState(request.fit, data.index, foreign))
      case RowsMessage(_) => Asked("rows", 0L, data.index)
    }
  }

  def gradients(data: LocalData, message: SgdMessage): Asked = {
    val (phase, round) = message.call match {
      case c: DescendCall => ("descend", math.round(c.steps(data.index) / (c.epochs * data.coordinates)))
      case _: SearchCall => ("search", 0L)
      case _: PassCall => (Pass, 0L)
    }
    Asked(phase, round, data.index)
  }

  def passes(data: BlockData, message: PassMessage): Asked = Asked(Pass, 0L, data.index)

  def networks(data: LocalData, message: NetworkMessage): Asked = message match {
    case m: NetworkDescent =>
      // As native code cuts rows into buckets.
      val buckets = data.coordinates / math.max(1, math.min(8, data.coordinates / 256))
      Asked("descend", math.round(m.cursors(data.index) / (m.epochs * buckets)), data.index)
    case _: NetworkSearch => Asked("search", 0L, data.index)
    case _: NetworkLosses => Asked(Pass, 0L, data.index)
  }

  private val Pass = "pass"
}

/**
 * The step of a worker with its faults. Each fault that happens leaves a file whose name begins with the number of
 * the fault.
 *
 * @param step
 *   the step without faults
 * @param asked
 *   the properties of a message
 */
private final class FaultyStep[D, M, S](
    faults: Seq[Fault],
    directory: String,
    step: Workers.Step[D, M, S],
    asked: (D, M) => Asked)
    extends Workers.Step[D, M, S]
    with Serializable {

  override def apply(data: D, message: M, shared: Array[Byte]): Contribution[S] = {
    val asked = this.asked(data, message)
    def meet(afterWork: Boolean): Unit = faults.zipWithIndex.foreach { case (fault, i) =>
      if (fault.afterWork == afterWork && fault.concerns(asked) && note(fault, i)) happen(fault, asked)
    }
    meet(afterWork = false)
    val contribution = step(data, message, shared)
    meet(afterWork = true)
    contribution
  }

  /** Whether the fault happens now; all processes see the same files. */
  private def note(fault: Fault, i: Int): Boolean =
    try {
      if (fault.again) Files.createTempFile(Paths.get(directory), s"$i-", "")
      else Files.createFile(Paths.get(directory, s"$i-"))
      true
    } catch { case _: FileAlreadyExistsException => false }

  private def happen(fault: Fault, asked: Asked): Unit = fault.what match {
    case Fault.Throw => throw new RuntimeException(Fault.Message)
    // Java offers a process no way to send itself SIGKILL; halt skips hooks and finally blocks, too.
    case Fault.KillExecutor => Runtime.getRuntime.halt(137)
    case Fault.Sleep(millis) => Thread.sleep(millis)
    case Fault.LoseState => asked.loseState()
  }
}

/**
 * The result of a fit.
 *
 * @param numbers
 *   the model
 * @param gap
 *   the largest possible distance of the objective from the optimum; NaN if unknown
 */
private[dwell] final case class Solved(numbers: Array[Double], facts: FitFacts)

/** A fit on data of its own, whose workers have faults; for one use. */
private[dwell] abstract class FaultyFit(val uid: String, faults: Seq[Fault]) {
  private val directory = Files.createTempDirectory("dwell-faults-")

  @volatile private var total = Option.empty[Seq[Int]]

  /** How often each of the faults has happened so far. */
  final def happened: Seq[Int] = total.getOrElse {
    val names = notes.map(_.getFileName.toString)
    faults.indices.map(i => names.count(_.startsWith(s"$i-")))
  }

  /** How many executors the faults have killed so far. */
  final def executorsKilled: Int =
    faults.zip(happened).collect { case (fault, n) if fault.what == Fault.KillExecutor => n }.sum

  /**
   * @param fits
   *   number of fits on the same data; each starts from the one before it, if its kind of fit can
   * @return
   *   the result of the last fit
   */
  final def solve(fits: Int = 1): Solved =
    try run(fits)
    finally {
      total = Some(happened)
      notes.foreach(Files.delete(_))
      Files.delete(directory)
    }

  protected def run(fits: Int): Solved

  protected final def faulty[D, M, S](step: Workers.Step[D, M, S], asked: (D, M) => Asked): Workers.Step[D, M, S] =
    new FaultyStep(faults, directory.toString, step, asked)

  private def notes: Seq[Path] = {
    val files = Files.list(directory)
    try files.toArray.toSeq.map(_.asInstanceOf[Path])
    finally files.close()
  }
}

/**
 * A fit of a linear model with faults.
 *
 * @param prepare
 *   called once the data has been read
 */
private[dwell] final class FaultyLinear(
    rows: RDD[LabeledRow],
    features: Int,
    problem: LinearProblem,
    faults: Seq[Fault],
    prepare: TrainingRows => Unit = _ => ())
    extends FaultyFit(problem.uid, faults) {

  override protected def run(fits: Int): Solved = {
    val data = TrainingReader.read(rows.map(_.toInternal), features, uid)
    val solver =
      new LinearTrainer(
        data,
        faulty(CdStep(_, _, _), Asked.coordinates),
        faulty(SgdStep(_, _, _), Asked.gradients),
        faulty(PassStep(_, _, _), Asked.passes))
    try {
      prepare(data)
      val s = (1 to fits).map(_ => solver.solve(problem)).last
      Solved(s.coefficients :+ s.intercept, s.facts)
    } finally solver.close()
  }
}

/** A fit of a network by model averaging with faults. */
private[dwell] final class FaultyNetwork(
    rows: RDD[LabeledRow],
    features: Int,
    problem: NetworkProblem,
    faults: Seq[Fault])
    extends FaultyFit(problem.uid, faults) {

  override protected def run(fits: Int): Solved = {
    val data = TrainingReader.read(rows.map(_.toInternal), features, uid)
    try {
      val step = faulty[LocalData, NetworkMessage, Unit](NetworkStep(_, _, _), Asked.networks)
      val s = (1 to fits).map(_ => NetworkTrainer.run(data, problem, step)).last
      Solved(s.weights, s.facts)
    } finally data.unpersist()
  }
}

private[dwell] object FaultyFit {
  private val fits = new AtomicInteger()

  private[solver] def uid(): String = s"fault-${fits.incrementAndGet()}"

  private[solver] val settings: SolverSettings = SolverSettings(
    threads = 1,
    gangPatienceMillis = 30000L, // in which an executor that was killed is replaced
    driverBytes = Long.MaxValue)

  /** Leaves a state of a fit in this process, as a worker does. */
  def leaveState(fit: Long): Unit =
    NativeCd.importState(fit, 0, WorkerState.zero(1000))

  /** Frees the states of a fit. */
  def free(sc: SparkContext, fit: Long): Unit = FitRunner.free(sc, Seq(fit), NativeLibrary.free)

  /** Ridge regression in the primal orientation, logistic regression in the dual one. */
  def problem(
      algorithm: Algorithm,
      orientation: Orientation,
      aggregation: String,
      numWorkers: Int,
      localWork: Double): LinearProblem = {
    // With a large penalty steps shrink fast, and few rounds are enough. An intercept has no penalty and would need
    // more.
    val averages = algorithm != Algorithm.CoCoA
    LinearProblem(
      uid(),
      Some(algorithm),
      loss = if (orientation == Orientation.Primal) Squared else Logistic,
      Penalty(
        l1 = 0.0,
        l2 = if (averages) 4.0 else if (orientation == Orientation.Primal) 0.5 else 0.01,
        scaleFactor = 1.0),
      intercept = !averages,
      tolerance = if (averages) 1e-3 else 1e-5,
      maxRounds = 1000,
      localWork = Some(localWork),
      Some(orientation),
      numWorkers,
      Aggregation.named(aggregation),
      seed = 1L,
      initial = None,
      settings)
  }

  /** A network of two classes, in rounds of an epoch, none of which ends the fit. */
  def network(features: Int, aggregation: String, rounds: Int, localWork: Double): NetworkProblem = {
    val layers = Array(features, 4, 2)
    val random = new Random(1)
    NetworkProblem(
      uid(),
      layers,
      start = Array.fill(4 * (features + 1) + 2 * 5)(random.nextGaussian()),
      Algorithm.ModelAveraging,
      tolerance = 0.0,
      rounds,
      Some(localWork),
      stepSize = None,
      batch = 16,
      seed = 1L,
      numWorkers = 4,
      Aggregation.named(aggregation),
      settings)
  }
}
