package dwell.bench

import dwell.report.{FitReport, RoundRecord}

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

  private def report(value: Evaluation => Double, least: Double): FitReport =
    Bench.report(
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

  /** Searches the step sizes, which warms up as well, then runs the systems in turn, as often as that. */
  def measure(problem: SgdProblem, systems: Seq[SgdSystem], repetitions: Int): Seq[SgdHistory] = {
    val stepSizes = systems.map { system =>
      system.tuning.fold { system.run(Double.NaN, system.checkpoints.take(1)); Double.NaN } { tuning =>
        tuning.best(step => problem.evaluate(system.run(step, Seq(tuning.steps)).last.model))
      }
    }
    def run(k: Int) = systems(k).run(stepSizes(k), systems(k).checkpoints)
    def times(checkpoint: Checkpoint) = (checkpoint.seconds, checkpoint.learning)
    val first = systems.indices.map { k =>
      val checkpoints = run(k)
      (checkpoints.map(times), checkpoints.map(_.steps), checkpoints.map(c => problem.evaluate(c.model)))
    }
    val again = (2 to repetitions).map(_ => systems.indices.map(k => run(k).map(times)))
    systems.indices.map { k =>
      val (firstTimes, steps, evaluations) = first(k)
      val runs = firstTimes +: again.map(_(k))
      def medians(of: ((Double, Double)) => Double) = runs.map(_.map(of)).transpose.map(Bench.median)
      SgdHistory(systems(k).name, systems(k).unit, stepSizes(k), steps, medians(_._1), medians(_._2), evaluations)
    }
  }

  /** A page of charts, where the gap is the distance to the least value that any system has. */
  def page(histories: Seq[SgdHistory], value: Evaluation => Double, path: String): Unit = {
    val least = histories.flatMap(_.evaluations.map(value)).filterNot(v => v.isNaN || v.isInfinite).min
    FitReport.compare(histories.map(h => h.name -> h.report(value, least)): _*).writeHtml(path)
  }
}
