package dwell.bench.cd

import java.nio.file.Paths

import dwell.bench.Bench
import dwell.problem.{Algorithm, Orientation}
import dwell.record.RoundRecord
import dwell.report.ComparisonPage

/**
 * Rounds and seconds to a suboptimality of 1e-3 of CoCoA, of mini-batch SCD and of mini-batch SGD, as in figure 6 of Duenner et
 * al. 2017: on the same data, in a gang, each with the local work that is best for it.
 */
object MiniBatchBench {

  private val Target = 1e-3
  private val Workers = 2
  private val MostRounds = 500

  private val Systems = Seq(
    ("CoCoA", RidgeProblem.Searched, Seq(0.25, 0.5, 1.0, 2.0, 4.0, 8.0)),
    ("mini-batch SCD", RidgeProblem.Searched.copy(algorithm = Algorithm.MiniBatchSCD), Seq(0.01, 0.1, 0.5, 1.0)),
    (
      "mini-batch SGD",
      RidgeProblem.Searched.copy(algorithm = Algorithm.MiniBatchSGD, orientation = Orientation.Dual),
      Seq(0.01, 0.1, 0.5, 1.0)))

  private final case class Fit(
      system: String,
      localWork: Double,
      records: Seq[RoundRecord],
      reached: Option[RoundRecord])

  def main(args: Array[String]): Unit = Bench.run("mini-batch bench", args) { bench =>
    (("wide", bench.wide) +: bench.libraries.map("libraries" -> _).toSeq).foreach { case (name, data) =>
      val problem = new RidgeProblem(name, data, Workers)
      println(s"\n== $name: ${problem.numRows} rows x ${problem.numFeatures} features, optimum ${problem.optimum}")
      val fits = for ((system, variant, grid) <- Systems; h <- grid) yield {
        problem.rounds(variant, h, 3, 0.0) // warms up
        val all = (1 to bench.repetitions).map { _ =>
          val records = problem.rounds(variant, h, MostRounds, Target / 4.0)
          Fit(system, h, records, problem.reached(records, Target))
        }
        val last = all.last
        println(f"$system%-15s H $h%-5s " + last.reached.fold(
          f"not reached in ${last.records.size - 1} rounds: ${above(problem, last.records)}%.1e above the optimum")(r =>
          f"${r.round}%3d rounds, ${r.elapsed}%.3f s"))
        bench.add(
          "data" -> name,
          "rows" -> problem.numRows,
          "features" -> problem.numFeatures,
          "workers" -> Workers,
          "system" -> system,
          "localWork" -> h,
          "rounds" -> last.reached.map(_.round),
          "seconds" -> all.flatMap(_.reached.map(_.elapsed)),
          "roundsMade" -> (last.records.size - 1),
          "secondsMade" -> last.records.last.elapsed,
          "suboptimality" -> above(problem, last.records))
        last
      }
      val best = Systems.map { case (system, _, _) =>
        fits.filter(_.system == system).minBy { f =>
          f.reached.fold((1, above(problem, f.records)))(r => (0, r.elapsed))
        }
      }
      ComparisonPage.write(
        Paths.get(bench.page(name)),
        best.map(f => Bench.compared(s"${f.system}, H ${f.localWork}", problem.suboptimality(f.records))))
      data.unpersist()
    }
  }

  private def above(problem: RidgeProblem, records: Seq[RoundRecord]): Double =
    records.map(_.objective).min / problem.optimum - 1.0
}
