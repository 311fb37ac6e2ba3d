package dwell.bench.sgd

import java.nio.file.Paths

import dwell.bench.Bench
import dwell.record.RoundRecord
import dwell.report.{ComparedFit, ComparisonPage}

/**
 * How good the models of a system were on the way.
 *
 * @param stepSize
 *   NaN where the system finds it by itself
 * @param seconds
 *   of each checkpoint, a median over the repetitions
 * @param learning
 *   see [[Checkpoint]]; a median as well
 */
private[bench] final case class SgdHistory(
    name: String,
    unit: String,
    stepSize: Double,
    steps: Seq[Double],
    seconds: Seq[Double],
    learning: Seq[Double],
    evaluations: Seq[Evaluation]) {

  /** First of the checkpoints at which that is so. */
  def first(holds: Evaluation => Boolean): Option[Cost] =
    evaluations.indices.find(i => holds(evaluations(i))).map(i => Cost(steps(i), seconds(i), learning(i)))

  /** For the file of results. */
  def results: Seq[(String, Any)] = Seq(
    "system" -> name,
    "unit" -> unit,
    "stepSize" -> stepSize,
    "steps" -> steps,
    "seconds" -> seconds,
    "learningSeconds" -> learning,
    "objectives" -> evaluations.map(_.objective),
    "heldOutLosses" -> evaluations.map(_.heldOutLoss),
    "heldOutErrors" -> evaluations.map(_.heldOutError))

  def describe: String = {
    val last = evaluations.last
    f"$name%-28s ${if (stepSize.isNaN) "" else f"step $stepSize%.4g, "}${steps.last}%.0f $unit, ${seconds.last}%.2f s: " +
      f"objective ${last.objective}%.6f, held out ${last.heldOutLoss}%.6f (best ${evaluations.map(_.heldOutLoss).min}%.6f), " +
      f"error ${last.heldOutError}%.4f"
  }

  def compared(value: Evaluation => Double, least: Double): ComparedFit =
    Bench.compared(
      name,
      steps.indices.map { i =>
        val v = value(evaluations(i))
        RoundRecord(
          math.ceil(steps(i)).toInt,
          v,
          math.max(0.0, v - least),
          seconds(i),
          workerSeconds = 0.0,
          overheadSeconds = 0.0,
          driverSeconds = 0.0,
          localWork = 1.0,
          stateBytes = 0L,
          stateLosses = 0,
          elapsed = seconds(i),
          workers = Seq.empty)
      })
}

/** What a model has cost: see [[Checkpoint]]. */
private[bench] final case class Cost(steps: Double, seconds: Double, learning: Double)

private[bench] object SgdHistory {

  /**
   * Searches the step sizes, which warms up as well, then runs the systems in turn, as often as the benchmark repeats. One that
   * has not ended once is not run again, and has no history.
   */
  def measure(bench: Bench, problem: SgdProblem, systems: Seq[SgdSystem]): Seq[SgdHistory] = {
    def each(runs: Seq[Runs])(next: Runs => Runs) =
      runs.flatMap(r => bench.unlessEndless(r.system.name, problem.results)(next(r)))
    val tuned = each(systems.map(new Runs(problem, _)))(_.tuned)
    (1 to bench.repetitions).foldLeft(tuned)((runs, _) => each(runs)(_.again)).map(_.history)
  }

  /**
   * Runs of a system so far.
   *
   * @param seconds
   *   of each run and checkpoint, and those of learning
   * @param first
   *   what the first run came to: steps, and how good its models were
   */
  private final case class Runs(
      problem: SgdProblem,
      system: SgdSystem,
      stepSize: Double,
      seconds: Seq[Seq[(Double, Double)]],
      first: Seq[(Double, Evaluation)]) {

    def this(problem: SgdProblem, system: SgdSystem) = this(problem, system, Double.NaN, Seq.empty, Seq.empty)

    def tuned: Runs = system.tuning match {
      case Some(tuning) =>
        copy(stepSize = tuning.best(step => problem.evaluate(system.run(step, Seq(tuning.steps)).last.model)))
      case None =>
        system.run(stepSize, system.checkpoints.take(1))
        this
    }

    def again: Runs = {
      val checkpoints = system.run(stepSize, system.checkpoints)
      copy(
        seconds = seconds :+ checkpoints.map(c => (c.seconds, c.learning)),
        first = if (seconds.isEmpty) checkpoints.map(c => (c.steps, problem.evaluate(c.model))) else first)
    }

    def history: SgdHistory = {
      def medians(of: ((Double, Double)) => Double) = seconds.map(_.map(of)).transpose.map(Bench.median)
      SgdHistory(system.name, system.unit, stepSize, first.map(_._1), medians(_._1), medians(_._2), first.map(_._2))
    }
  }

  /** A page of charts, where the gap is the distance to the least value that any system has. Without any there is no page. */
  def page(histories: Seq[SgdHistory], value: Evaluation => Double, path: String): Unit = if (histories.nonEmpty) {
    val least = histories.flatMap(_.evaluations.map(value)).filterNot(v => v.isNaN || v.isInfinite).min
    ComparisonPage.write(Paths.get(path), histories.map(_.compared(value, least)))
  }
}
