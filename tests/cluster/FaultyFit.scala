package dwell.solver

import java.nio.file.{FileAlreadyExistsException, Files, Path, Paths}
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD

import dwell.comm.{Contribution, Workers}
import dwell.data.{Flattener, LabeledRow, TrainingRows}

/**
 * What goes wrong in an exchange.
 *
 * @param phase
 *   name of the exchange's [[Phase]]
 * @param from
 *   number of the first exchange that it can happen in
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

  def concerns(data: LocalData, message: RoundMessage): Boolean =
    message.phase.name == phase && message.request.round >= from && data.index == partition
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

/** What a worker does in an exchange, and what goes wrong in it; each occurrence is a file whose name begins with its number. */
private final class FaultyStep(faults: Seq[Fault], directory: String)
    extends Workers.Step[LocalData, RoundMessage, WorkerReply]
    with Serializable {

  override def apply(data: LocalData, message: RoundMessage, shared: Array[Byte]): Contribution[WorkerReply] = {
    def meet(afterWork: Boolean): Unit = faults.zipWithIndex.foreach { case (fault, i) =>
      if (fault.afterWork == afterWork && fault.concerns(data, message) && note(fault, i)) happen(fault, data, message)
    }
    meet(afterWork = false)
    val contribution = WorkerStep(data, message, shared)
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

  private def happen(fault: Fault, data: LocalData, message: RoundMessage): Unit = fault.what match {
    case Fault.Throw => throw new RuntimeException(Fault.Message)
    // Neither hooks nor finally blocks run, as after SIGKILL, which no process can send itself through Java.
    case Fault.KillExecutor => Runtime.getRuntime.halt(137)
    case Fault.Sleep(millis) => Thread.sleep(millis)
    case Fault.LoseState =>
      val foreign = WorkerState.zero(data.coordinates).copy(stamp = 1L << 40)
      message.selection.solver().importState(message.request.fit, data.index, foreign)
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
      val solver = new LinearSolver(data, new FaultyStep(faults, directory.toString))
      try {
        prepare(data)
        (1 to fits).map(_ => solver.solve(problem)).last
      } finally solver.close()
    } finally {
      total = Some(happened)
      notes.foreach(Files.delete(_))
      Files.delete(directory)
    }

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
  def problem(orientation: String, aggregation: String, numWorkers: Int, localWork: Double): LinearProblem =
    LinearProblem(
      uid = s"fault-${fits.incrementAndGet()}",
      Algorithm.CoCoA,
      loss = if (orientation == Orientation.Primal) Squared else Logistic,
      l1 = 0.0,
      l2 = if (orientation == Orientation.Primal) 0.5 else 0.01,
      scaleFactor = 1.0,
      intercept = true,
      tolerance = 1e-5,
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
