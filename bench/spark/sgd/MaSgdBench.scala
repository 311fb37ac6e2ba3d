package dwell.bench.sgd

import java.nio.file.{Files, Path}

import dwell.bench.Bench
import dwell.problem.Logistic

/**
 * MA-SGD beside what it replaces, as in figures 4 to 6 of Guo et al. 2021: the objective against seconds and against
 * communication steps, and the loss on held-out rows against seconds, on data in four shapes, with and without an L2 penalty.
 * All systems run side by side, one after the other, on the same rows. The same evaluator judges every model on the way, after
 * the run. Neither this nor the search for the step sizes of the others counts as seconds. Dwell's own search counts as part of
 * its fit (but not of its rounds), except for the Dwell that is tuned as the others are.
 *
 * Seconds of Dwell and of Spark's l-bfgs are those of whole fits, from a cached DataFrame; those of MLlib's SGD begin with
 * its rows in memory, those of the programs with their matrix in memory or, for Vowpal Wabbit, with its cache file. The
 * seconds of learning, by which Dwell and the programs are compared, begin with the rows in each system's own form.
 *
 * Arguments after those of [[Bench]]: [[SgdArguments]].
 */
object MaSgdBench {

  private val Workers = 2
  private val Passes = Seq(0.125, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)

  /** Relative: how far above the best held-out loss of a peer still counts as the same loss. */
  private val SameLoss = 1e-3
  private val RoundsGoal = 100.0
  private val SecondsGoal = 20.0

  def main(args: Array[String]): Unit = {
    val (own, others) = args.splitAt(Bench.Arguments)
    val asked = new SgdArguments(others.toSeq)
    Bench.run("MA-SGD bench", own) { bench =>
      for (shape <- asked.shapes) {
        val data = bench.sgd(shape, Workers)
        val files = Files.createTempDirectory("dwell-sgd-rows")
        try {
          val parts = RowFiles.write(data.points, files)
          for (loss <- asked.losses; l2 <- asked.penalties) {
            val problem = new SgdProblem(data, loss, l2)
            RowFiles.problem(problem, parts, bench.seed, files)
            compare(bench, problem, systems(problem, asked, files).filter(s => asked.wants(s.name)))
          }
        } finally {
          SgdProgram.delete(files)
          data.unpersist()
        }
      }
    }
  }

  /** The systems, in the order in which the page of the objective has its lines. */
  private def systems(problem: SgdProblem, asked: SgdArguments, files: Path): Seq[SgdSystem] = {
    // What its users look at; the objective of the training data would choose larger steps than are good for it.
    def held(first: Double) = Tuning(first, 1.0, _.heldOutLoss)
    val squareNorm = problem.data.squareNorm
    Seq(
      EstimatorSystem.dwell(problem, "ma-sgd", "gang"),
      EstimatorSystem.dwell(problem, "ma-sgd", "shuffle"),
      new MllibSgd(problem, 1.0, asked.rounds),
      new MllibSgd(problem, 0.01, asked.rounds),
      new MllibAveraging(problem),
      EstimatorSystem.spark(problem),
      EstimatorSystem.dwell(problem, "l-bfgs", "gang"),
      EstimatorSystem.dwellTuned(problem, held(0.25 / squareNorm).copy(limit = 0.5 / problem.l2))) ++
      SgdProgram.mpi(problem, asked, files) ++
      asked.program("python").toSeq.flatMap { command =>
        def program(name: String, short: String, tuning: Option[Tuning]) =
          new SgdProgram(name, "passes", command :+ short, files, tuning, Passes, asked.limit)
        def classifier(schedule: String, tuning: Option[Tuning]) =
          program(s"SGDClassifier, $schedule", schedule, tuning)
        Seq(
          program("Vowpal Wabbit", "vw", Some(held(0.5))),
          classifier("constant", Some(held(0.25 / squareNorm))),
          // Its steps fall with the root of the rows seen; without a penalty it has no better ones.
          if (problem.l2 > 0.0) classifier("optimal", None)
          else classifier("invscaling", Some(held(16.0 / squareNorm))))
      }
  }

  private def compare(bench: Bench, problem: SgdProblem, systems: Seq[SgdSystem]): Unit = {
    println(s"\n== ${problem.data.about}, ${problem.loss}, l2 ${problem.l2}")
    val histories = SgdHistory.measure(bench, problem, systems)
    histories.foreach { h =>
      println(h.describe)
      bench.add(problem.results ++ h.results: _*)
    }
    goals(bench, problem, histories)
    SgdHistory.page(histories.filter(_.unit == "rounds"), _.objective, bench.page(s"${problem.name}-objective"))
    SgdHistory.page(histories, _.heldOutLoss, bench.page(s"${problem.name}-held-out"))
  }

  /** Each Dwell beside each peer, where the peer comes to at the end: by the objective, or by the loss of the rows held out. */
  private def goals(bench: Bench, problem: SgdProblem, histories: Seq[SgdHistory]): Unit = {
    val (ours, peers) = histories.partition(_.name.startsWith("Dwell"))
    for (peer <- peers; dwell <- ours) {
      if (peer.name.startsWith("MLlib SGD")) {
        val end = peer.evaluations.last.objective
        val ratios = Ratios(peer, dwell, _.objective <= end)
        val met = ratios.steps.exists(_ >= RoundsGoal) && ratios.seconds.exists(_ >= SecondsGoal)
        goal(bench, problem, "objective", end, ratios, met)
      }
      if (peer.unit == "passes" && problem.loss == Logistic) {
        val best = peer.evaluations.map(_.heldOutLoss).min * (1.0 + SameLoss)
        val ratios = Ratios(peer, dwell, _.heldOutLoss <= best)
        goal(bench, problem, "held-out loss", best, ratios, ratios.learning.exists(_ >= 1.0))
      }
    }
  }

  /** How many times as much a peer needs, where both come there. */
  private final case class Ratios(peer: SgdHistory, dwell: SgdHistory, holds: Evaluation => Boolean) {
    val theirs: Option[Cost] = peer.first(holds)
    val mine: Option[Cost] = dwell.first(holds)
    def of(number: Cost => Double): Option[Double] = for (t <- theirs; m <- mine) yield number(t) / number(m)
    def steps: Option[Double] = of(_.steps).filter(_ => peer.unit == dwell.unit)
    def seconds: Option[Double] = of(_.seconds)
    def learning: Option[Double] = of(_.learning)
  }

  private def goal(
      bench: Bench,
      problem: SgdProblem,
      measure: String,
      target: Double,
      ratios: Ratios,
      met: Boolean): Unit = {
    val factors = ratios.steps.map(r => f"$r%.3g times fewer rounds").toSeq ++
      ratios.seconds.map(r => f"$r%.3g times fewer seconds") ++
      ratios.learning.map(r => f"$r%.3g times fewer seconds of learning")
    println(
      f"goal ${if (met) "met   " else "MISSED"} $measure $target%.6f of ${ratios.peer.name}: ${ratios.dwell.name} " +
        (if (factors.isEmpty) "not reached" else factors.mkString(", ")))
    bench.add(
      problem.results ++ Seq(
        "measure" -> measure,
        "target" -> target,
        "peer" -> ratios.peer.name,
        "system" -> ratios.dwell.name,
        "peerSteps" -> ratios.theirs.map(_.steps),
        "peerSeconds" -> ratios.theirs.map(_.seconds),
        "steps" -> ratios.mine.map(_.steps),
        "seconds" -> ratios.mine.map(_.seconds),
        "learningSeconds" -> ratios.mine.map(_.learning),
        "roundsRatio" -> ratios.steps,
        "secondsRatio" -> ratios.seconds,
        "learningRatio" -> ratios.learning,
        "met" -> met): _*)
  }
}
