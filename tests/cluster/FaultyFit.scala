package dwell.solver

import java.nio.file.{FileAlreadyExistsException, Files, Path, Paths}
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD

import dwell.comm.{Contribution, Workers}
import dwell.data.{Flattener, LabeledRow, TrainingRows}
import dwell.solver.sgd.{DescendCall, EvaluateCall, GradientMessage, GradientStep, SearchCall}

/**
 * What goes wrong in an exchange.
 *
 * @param phase
 *   what the exchange is for: see [[Asked]]
 * @param from
 *   number of the first round that it can happen in
 * @param afterWork
 *   whether the worker has done its part of the exchange by then
 * @param again
 *   whether it happens every time, and not only once, wherever the worker runs
 */
private[dwell] final case class Fault(
    what: Fault.Kind,
    phase: String = "round",
    from: Long = 0L,
    partition: Int = 0,
    afterWork: Boolean = false,
    again: Boolean = false) {

  def concerns(data: LocalData, asked: Asked): Boolean =
    asked.phase == phase && asked.round >= from && data.index == partition
}

private[dwell] object Fault {
  sealed trait Kind extends Serializable
  case object Throw extends Kind
  case object KillExecutor extends Kind
  final case class Sleep(millis: Long) extends Kind

  /** The worker's state is replaced by one that the fit does not know. */
  case object LoseState extends Kind

  /** Message of what is thrown. */
  val Message = "made to fail"
}

/**
 * What a fault has to know of a message.
 *
 * @param phase
 *   name of the [[Phase]], or what a call of a fit by gradients does
 * @param round
 *   number of the worker's round; 0 where the message does not tell
 */
private[solver] final case class Asked(phase: String, round: Long, fit: Long, selection: SolverSelection)

private[solver] object Asked {

  def coordinates(data: LocalData, message: RoundMessage): Asked =
    Asked(message.phase.name, message.request.round, message.request.fit, message.selection)

  def gradients(data: LocalData, message: GradientMessage): Asked = {
    val (phase, round) = message.call match {
      case c: DescendCall => ("descend", math.round(c.steps(data.index) / (c.epochs * data.coordinates)))
      case _: SearchCall => ("search", 0L)
      case _: EvaluateCall => ("evaluate", 0L)
    }
    Asked(phase, round, message.fit, message.selection)
  }
}

/**
 * What a worker does in an exchange, and what goes wrong in it; each occurrence is a file whose name begins with its number.
 *
 * @param step
 *   what it does when nothing goes wrong
 * @param asked
 *   what a message asks of a worker
 */
private final class FaultyStep[M, S](
    faults: Seq[Fault],
    directory: String,
    step: Workers.Step[LocalData, M, S],
    asked: (LocalData, M) => Asked)
    extends Workers.Step[LocalData, M, S]
    with Serializable {

  override def apply(data: LocalData, message: M, shared: Array[Byte]): Contribution[S] = {
    val asked = this.asked(data, message)
    def meet(afterWork: Boolean): Unit = faults.zipWithIndex.foreach { case (fault, i) =>
      if (fault.afterWork == afterWork && fault.concerns(data, asked) && note(fault, i)) happen(fault, data, asked)
    }
    meet(afterWork = false)
    val contribution = step(data, message, shared)
    meet(afterWork = true)
    contribution
  }

  /** Whether the fault happens; all processes see the same files. */
  private def note(fault: Fault, i: Int): Boolean =
    try {
      if (fault.again) Files.createTempFile(Paths.get(directory), s"$i-", "")
      else Files.createFile(Paths.get(directory, s"$i-"))
      true
    } catch { case _: FileAlreadyExistsException => false }

  private def happen(fault: Fault, data: LocalData, asked: Asked): Unit = fault.what match {
    case Fault.Throw => throw new RuntimeException(Fault.Message)
    // Neither hooks nor finally blocks run, as after SIGKILL, which no process can send itself through Java.
    case Fault.KillExecutor => Runtime.getRuntime.halt(137)
    case Fault.Sleep(millis) => Thread.sleep(millis)
    case Fault.LoseState =>
      val foreign = WorkerState.zero(data.coordinates).copy(stamp = 1L << 40)
      asked.selection.solver().importState(asked.fit, data.index, foreign)
  }
}

/** A fit on data of its own, whose workers meet with faults; for one use. */
private[dwell] final class FaultyFit(rows: RDD[LabeledRow], features: Int, problem: LinearProblem, faults: Seq[Fault]) {
  def uid: String = problem.uid

  private val directory = Files.createTempDirectory("dwell-faults-")

  @volatile private var total = Option.empty[Seq[Int]]

  /** How often each of the faults has happened so far. */
  def happened: Seq[Int] = total.getOrElse {
    val names = notes.map(_.getFileName.toString)
    faults.indices.map(i => names.count(_.startsWith(s"$i-")))
  }

  /**
   * @param fits
   *   each starts from the one before it
   * @param prepare
   *   called when the data has been read
   * @return
   *   that of the last
   */
  def solve(fits: Int = 1, prepare: TrainingRows => Unit = _ => ()): LinearSolution =
    try {
      val data = Flattener.read(rows, features, problem.uid)
      val solver = new LinearSolver(
        data,
        faulty(WorkerStep(_, _, _), Asked.coordinates),
        faulty(GradientStep(_, _, _), Asked.gradients))
      try {
        prepare(data)
        (1 to fits).map(_ => solver.solve(problem)).last
      } finally solver.close()
    } finally {
      total = Some(happened)
      notes.foreach(Files.delete(_))
      Files.delete(directory)
    }

  private def faulty[M, S](step: Workers.Step[LocalData, M, S], asked: (LocalData, M) => Asked) =
    new FaultyStep(faults, directory.toString, step, asked)

  private def notes: Seq[Path] = {
    val files = Files.list(directory)
    try files.toArray.toSeq.map(_.asInstanceOf[Path])
    finally files.close()
  }
}

private[dwell] object FaultyFit {
  private val fits = new AtomicInteger()

  /** Leaves a state of a fit in this process, as a worker does. */
  def leaveState(fit: Long): Unit =
    SolverSelection("native", fallbackIsError = true).solver().importState(fit, 0, WorkerState.zero(1000))

  /** Frees the states of a fit. */
  def free(sc: SparkContext, fit: Long): Unit = FitRunner.free(sc, Seq(fit))

  /** Ridge regression in the primal orientation, logistic regression in the dual one. */
  def problem(
      algorithm: Algorithm,
      orientation: String,
      aggregation: String,
      numWorkers: Int,
      localWork: Double): LinearProblem = {
    // Steps that fall as fast as a large penalty allows need few rounds, but where there is an intercept, which it leaves alone.
    val averages = algorithm != Algorithm.CoCoA
    LinearProblem(
      uid = s"fault-${fits.incrementAndGet()}",
      algorithm,
      loss = if (orientation == Orientation.Primal) Squared else Logistic,
      l1 = 0.0,
      l2 = if (averages) 4.0 else if (orientation == Orientation.Primal) 0.5 else 0.01,
      scaleFactor = 1.0,
      intercept = !averages,
      tolerance = if (averages) 1e-3 else 1e-5,
      maxRounds = 1000,
      localWork = Some(localWork),
      orientation,
      numWorkers,
      Aggregation.named(aggregation),
      seed = 1L,
      initial = None,
      SolverSettings(
        threads = 1,
        travellingState = false,
        SolverSelection("native", fallbackIsError = true),
        adding = false,
        gangPatienceMillis = 30000L, // in which an executor that was killed is replaced
        maxResultBytes = Long.MaxValue))
  }
}
