package dwell.bench.cd

import java.nio.file.{Files, Path, Paths}

import org.apache.spark.rdd.RDD

import dwell.bench.{Bench, ExchangeBench, OtherProgram}
import dwell.fit.Aggregation
import dwell.record.RoundRecord
import dwell.report.ComparisonPage

/**
 * Seconds to a suboptimality of 1e-3 of every implementation, as in figures 2 to 5 of Duenner et al. 2017: plain Spark in Scala
 * (A), the native solver with persistent state (B)*, in each mode of aggregation, pySpark with NumPy (C) and
 * with the C ABI (D), and MPI (E). All make the same rounds of textbook CoCoA+, with steps that are added, from the same
 * partitions, which is checked in every round; each has the local work H that is best for it.
 *
 * Arguments after those of [[Bench]]: the programs of the implementations that are not this one's, each a letter and a
 * command, separated by the character U+001F.
 */
object ReferencesBench {

  private val Target = 1e-3
  private val Workers = 2
  private val MostRounds = 400

  /** Relative: other code adds up in another order, in every round. */
  private val SameObjective = 1e-9

  private val Fine = Seq(0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
  private val Coarse = Seq(0.5, 1.0, 2.0, 4.0, 8.0, 16.0)

  /** A program of pySpark takes half a minute to start. */
  private val Few = Seq(1.0, 2.0, 4.0, 8.0)

  /** An epoch of NumPy takes seconds. */
  private val Single = Seq(1.0)

  private final case class Measured(records: Seq[RoundRecord], empty: Double)

  /** @param warmsUp by itself, before what it measures */
  private final case class Implementation(
      name: String,
      grid: Seq[Double],
      warmsUp: Boolean,
      run: (Double, Int) => Measured)

  def main(args: Array[String]): Unit = {
    val (own, others) = args.splitAt(Bench.Arguments)
    val commands = others.map(_.split('\u001f').toSeq).map(words => words.head -> words.tail).toMap
    Bench.run("references bench", own) { bench =>
      (("wide", bench.wide) +: bench.libraries.map("libraries" -> _).toSeq).foreach { case (name, data) =>
        compare(bench, new RidgeProblem(name, data, Workers), commands)
        data.unpersist()
      }
    }
  }

  private def compare(bench: Bench, problem: RidgeProblem, commands: Map[String, Seq[String]]): Unit = {
    println(
      s"\n== ${problem.name}: ${problem.numRows} rows x ${problem.numFeatures} features, optimum ${problem.optimum}")
    val files = Files.createTempDirectory("dwell-references")
    val plain = new PlainCoCoA(problem)
    try {
      PartitionFiles.write(problem, files)
      val counted = Fine.map { h =>
        val records = problem.rounds(Adding, h, MostRounds, Target / 4.0)
        (h, records, problem.reached(records, Target).map(_.round))
      }
      counted.foreach { case (h, _, rounds) => println(s"H $h: ${rounds.fold("not reached")(n => s"$n rounds")}") }
      val histories = counted.collect { case (h, records, Some(n)) => h -> records.take(n + 1) }.toMap
      measure(bench, problem, implementations(bench, problem, plain, commands, files), histories)
    } finally {
      plain.close()
      Files.list(files).forEach(Files.delete(_))
      Files.delete(files)
    }
  }

  private val Adding = Variant(adding = true, Aggregation.Gang)

  private def implementations(
      bench: Bench,
      problem: RidgeProblem,
      plain: PlainCoCoA,
      commands: Map[String, Seq[String]],
      files: Path): Seq[Implementation] = {
    val data = bench.spark.sparkContext.parallelize(0 until Workers, Workers).cache()
    data.count()
    def ours(name: String, grid: Seq[Double], variant: Variant) = Implementation(
      name,
      grid,
      warmsUp = false,
      (h, rounds) => Measured(problem.rounds(variant, h, rounds, 0.0), empty(bench, data, variant.aggregation)))
    def other(name: String, letter: String, grid: Seq[Double]) = commands.get(letter).map { command =>
      val program = new OtherProgram(command, files)
      Implementation(
        name,
        grid,
        warmsUp = true,
        (h, rounds) => { val (records, empty) = program.run(h, rounds); Measured(records, empty) })
    }
    def scala(h: Double, rounds: Int) = Measured(plain.rounds(h, rounds), empty(bench, data, Aggregation.Driver))
    Seq(
      ours("(B)* gang", Fine, Adding),
      ours("(B)* driver", Coarse, Adding.copy(aggregation = Aggregation.Driver)),
      ours("(B)* shuffle", Coarse, Adding.copy(aggregation = Aggregation.Shuffle)),
      Implementation("(A) Scala", Coarse, warmsUp = false, scala)) ++
      other("(E) MPI", "E", Fine) ++
      other("(E) MPI, with certificates", "E+", Fine) ++
      other("(D) pySpark, C ABI", "D", Few) ++
      other("(C) pySpark, NumPy", "C", Single)
  }

  /** Seconds of an exchange without work and vector. */
  private def empty(bench: Bench, data: RDD[Int], mode: Aggregation): Double =
    Bench.median(ExchangeBench.milliseconds(bench.spark, data, mode.name, length = 1)) * 1e-3

  /** Every H once, then the best one of each implementation again, in turn. */
  private def measure(
      bench: Bench,
      problem: RidgeProblem,
      implementations: Seq[Implementation],
      histories: Map[Double, Seq[RoundRecord]]): Unit = {
    def run(implementation: Implementation, h: Double): Measured = {
      val history = histories(h)
      val measured = implementation.run(h, history.last.round)
      val made = measured.records.filter(_.round > 0)
      made.zip(history.tail).foreach { case (one, same) =>
        require(
          math.abs(one.objective - same.objective) <= SameObjective * same.objective,
          s"${implementation.name}, H $h: round ${same.round} leads to ${one.objective} and not to ${same.objective}")
      }
      require(made.size == history.size - 1, s"${implementation.name}, H $h: ${made.size} rounds")
      println(f"${implementation.name}%-28s H $h%-6s ${made.size}%3d rounds ${made.last.elapsed}%.3f s, worker " +
        f"${made.map(_.workerSeconds).sum}%.3f, leader ${made.map(_.driverSeconds).sum}%.3f, empty round ${measured.empty}%.5f")
      Measured(made, measured.empty)
    }
    implementations.filterNot(_.warmsUp).foreach(i => run(i, i.grid.filter(histories.contains).head))
    val first = implementations.map(i => i -> i.grid.filter(histories.contains).map(h => h -> run(i, h)))
    val best = first.map { case (i, runs) => i -> runs.minBy(_._2.records.last.elapsed)._1 }
    val again = (2 to bench.repetitions).map(_ => best.map { case (i, h) => run(i, h) })
    for (((i, runs), k) <- first.zipWithIndex; (h, once) <- runs) {
      val all = once +: (if (h == best(k)._2) again.map(_(k)) else Seq.empty)
      bench.add(
        "data" -> problem.name,
        "rows" -> problem.numRows,
        "features" -> problem.numFeatures,
        "nonzeros" -> problem.columns.nonzeros,
        "workers" -> Workers,
        "implementation" -> i.name,
        "localWork" -> h,
        "best" -> (h == best(k)._2),
        "rounds" -> once.records.size,
        "seconds" -> all.map(_.records.last.elapsed),
        "worker" -> all.map(_.records.map(_.workerSeconds).sum),
        "leader" -> all.map(_.records.map(_.driverSeconds).sum),
        "emptyRound" -> all.map(_.empty))
    }
    def page(name: String, fits: Seq[(String, Measured)]): Unit =
      ComparisonPage.write(
        Paths.get(bench.page(s"${problem.name}-$name")),
        fits.map { case (fit, m) => Bench.compared(fit, problem.suboptimality(m.records)) })
    page(
      "implementations",
      first.zip(best).map { case ((i, runs), (_, h)) => s"${i.name}, H $h" -> runs.toMap.apply(h) })
    page("local-work", first.head._2.map { case (h, m) => s"${first.head._1.name}, H $h" -> m })
  }
}
