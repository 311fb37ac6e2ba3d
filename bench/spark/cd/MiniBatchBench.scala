package dwell.bench.cd

import java.nio.file.Paths

import scala.collection.mutable

import org.apache.spark.mllib.linalg.{Vectors => OldVectors}
import org.apache.spark.mllib.optimization.{GradientDescent, LeastSquaresGradient}

import dwell.bench.Bench
import dwell.bench.sgd.MllibSgd
import dwell.record.RoundRecord
import dwell.report.ComparisonPage

/**
 * Rounds and seconds to a suboptimality of 1e-3 of CoCoA, of mini-batch SCD and of mini-batch SGD, as in figure 6 of Duenner et
 * al. 2017: on the same data, each with the local work that is best for it. CoCoA is Dwell's, in a gang, and a plain program as well; mini-batch
 * SCD is the same plain program without local progress, and mini-batch SGD is MLlib's `GradientDescent`, with the best of some step sizes.
 */
object MiniBatchBench {

  private val Target = 1e-3
  private val Workers = 2
  private val MostRounds = 500

  /** Rounds of a fit that tries a step size. */
  private val TrialRounds = 20

  private final case class System(name: String, grid: Seq[Double], rounds: (Double, Int) => Seq[RoundRecord])

  private final case class Fit(
      system: String,
      localWork: Double,
      records: Seq[RoundRecord],
      reached: Option[RoundRecord])

  def main(args: Array[String]): Unit = Bench.run("mini-batch bench", args) { bench =>
    (("wide", bench.wide) +: bench.libraries.map("libraries" -> _).toSeq).foreach { case (name, data) =>
      val problem = new RidgeProblem(name, data, Workers)
      println(s"\n== $name: ${problem.numRows} rows x ${problem.numFeatures} features, optimum ${problem.optimum}")
      val (plain, batches) = (new PlainCoCoA(problem), new PlainCoCoA(problem, batch = true))
      val enough = (1.0 + Target) * problem.optimum
      val systems = Seq(
        System("CoCoA", Seq(0.25, 0.5, 1.0, 2.0, 4.0, 8.0), problem.rounds(RidgeProblem.Searched, _, _, Target / 4.0)),
        System("CoCoA, plain", Seq(0.5, 1.0, 2.0), plain.rounds(_, _, enough)),
        System("mini-batch SCD", Seq(0.01, 0.1, 0.5, 1.0), batches.rounds(_, _, enough)),
        System("mini-batch SGD", Seq(0.01, 0.1, 0.5, 1.0), new Descent(problem).rounds))
      val best = systems.map { system =>
        val fits = system.grid.map(measured(bench, problem, system, _))
        fits.minBy(f => f.reached.fold((1, above(problem, f.records)))(r => (0, r.elapsed)))
      }
      ComparisonPage.write(
        Paths.get(bench.page(name)),
        best.map(f => Bench.compared(s"${f.system}, H ${f.localWork}", problem.suboptimality(f.records))))
      Seq(plain, batches).foreach(_.close())
      problem.points.unpersist()
      data.unpersist()
    }
  }

  private def measured(bench: Bench, problem: RidgeProblem, system: System, localWork: Double): Fit = {
    system.rounds(localWork, 3) // warms up
    val all = (1 to bench.repetitions).map { _ =>
      val records = system.rounds(localWork, MostRounds)
      Fit(system.name, localWork, records, problem.reached(records, Target))
    }
    val last = all.last
    println(
      f"${system.name}%-15s H $localWork%-5s " + last.reached.fold(
        f"not reached in ${last.records.last.round} rounds: ${above(problem, last.records)}%.1e above the optimum")(r =>
        f"${r.round}%3d rounds, ${r.elapsed}%.3f s"))
    bench.add(
      "data" -> problem.name,
      "rows" -> problem.numRows,
      "features" -> problem.numFeatures,
      "workers" -> Workers,
      "system" -> system.name,
      "localWork" -> localWork,
      "rounds" -> last.reached.map(_.round),
      "seconds" -> all.flatMap(_.reached.map(_.elapsed)),
      "roundsMade" -> last.records.last.round,
      "secondsMade" -> last.records.last.elapsed,
      "suboptimality" -> above(problem, last.records))
    last
  }

  /** Mini-batch SGD: MLlib's. */
  private final class Descent(problem: RidgeProblem) {
    private val steps = mutable.Map.empty[Double, Double]

    /** Rounds that each take a gradient of so large a part of the rows, with the best step size of a search. */
    def rounds(fraction: Double, count: Int): Seq[RoundRecord] =
      rounds(fraction, count, steps.getOrElseUpdate(fraction, bestStep(fraction)))

    private def bestStep(fraction: Double): Double = {
      val longest = problem.numRows / problem.points.map { case (_, x) => math.pow(OldVectors.norm(x, 2.0), 2) }.sum()
      (-2 to 6).map(k => longest * math.pow(4.0, k.toDouble)).minBy { step =>
        val reached = rounds(fraction, TrialRounds, step).last.objective
        if (reached.isNaN) Double.PositiveInfinity else reached
      }
    }

    private def rounds(fraction: Double, count: Int, step: Double): Seq[RoundRecord] = {
      // The first rounds, and then those that are a twentieth further on.
      val at =
        Iterator.iterate(1.0)(k => math.max(k + 1.0, math.floor(1.05 * k))).takeWhile(_ < count).toSeq :+ count.toDouble
      val recorder = new MllibSgd.Recorder(at)
      GradientDescent.runMiniBatchSGD(
        problem.points,
        new LeastSquaresGradient(),
        recorder,
        step,
        count,
        problem.l2,
        fraction,
        OldVectors.zeros(problem.numFeatures),
        0.0)
      val start = record(0, problem.objective(new Array[Double](problem.numFeatures)), 0.0, fraction)
      start +: recorder.checkpoints.toSeq.map(c =>
        record(c.steps.toInt, problem.objective(c.model), c.seconds, fraction))
    }
  }

  private def record(round: Int, objective: Double, elapsed: Double, epochs: Double): RoundRecord =
    RoundRecord(round, objective, Double.NaN, 0.0, 0.0, 0.0, 0.0, epochs, 0L, 0, elapsed, workers = Seq.empty)

  private def above(problem: RidgeProblem, records: Seq[RoundRecord]): Double =
    records.map(_.objective).filterNot(_.isNaN).min / problem.optimum - 1.0
}
