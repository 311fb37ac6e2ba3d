package dwell.bench.sgd

import java.nio.file.{Files, Path}

import dwell.bench.Bench

/**
 * MA-SGD over the number of partitions K: what the average over more models costs in rounds, and what a round costs. The
 * executors are two, with one core each, so that from K = 2 on no round gets faster; a gang needs a slot for each worker and is
 * left out beyond. Logistic or hinge loss, without penalty.
 *
 * Rounds and seconds are those to an objective that all reach, with any K: the best of the one that comes least far.
 *
 * Arguments after those of [[Bench]]: [[SgdArguments]].
 */
object MaSgdScalingBench {

  private val Partitions = Seq(1, 2, 4, 8)
  private val Slots = 2

  def main(args: Array[String]): Unit = {
    val (own, others) = args.splitAt(Bench.Arguments)
    val asked = new SgdArguments(others.toSeq)
    Bench.run("MA-SGD scaling bench", own) { bench =>
      for (shape <- asked.shapes; loss <- asked.losses) {
        val runs = Partitions.flatMap { workers =>
          val data = bench.sgd(shape, workers)
          val files = Files.createTempDirectory("dwell-sgd-rows")
          try {
            val problem = new SgdProblem(data, loss, l2 = 0.0)
            RowFiles.problem(problem, RowFiles.write(data.points, files), bench.seed, files)
            println(s"\n== ${data.about}, $loss, $workers partitions")
            val histories =
              SgdHistory.measure(bench, problem, systems(problem, asked, files).filter(s => asked.wants(s.name)))
            histories.foreach(h => println(h.describe))
            histories.map(problem.results -> _)
          } finally {
            SgdProgram.delete(files)
            data.unpersist()
          }
        }
        add(bench, runs)
        val lines = runs.map { case (about, h) => h.copy(name = s"${h.name}, K ${about.toMap.apply("workers")}") }
        SgdHistory.page(lines, _.objective, bench.page(s"${shape.name}-$loss"))
      }
    }
  }

  private def systems(problem: SgdProblem, asked: SgdArguments, files: Path): Seq[SgdSystem] = {
    val workers = problem.data.workers
    def dwell(mode: String) = EstimatorSystem.dwell(problem, "ma-sgd", mode)
    Option.when(workers <= Slots)(dwell("gang")).toSeq ++ Seq(dwell("shuffle"), new MllibAveraging(problem)) ++
      SgdProgram.mpi(problem, asked, files)
  }

  private def add(bench: Bench, runs: Seq[(Seq[(String, Any)], SgdHistory)]): Unit = {
    val target = runs.map(_._2.evaluations.map(_.objective).min).max
    runs.foreach { case (about, h) =>
      val reached = h.first(_.objective <= target)
      reached.foreach { cost =>
        println(
          f"${h.name}%-28s K ${about.toMap.apply("workers")}%s: ${cost.steps}%.0f rounds, ${cost.seconds}%.2f s " +
            f"(${cost.learning}%.2f s learning) to $target%.6f")
      }
      bench.add(
        about ++ h.results ++ Seq(
          "target" -> target,
          "roundsToTarget" -> reached.map(_.steps),
          "secondsToTarget" -> reached.map(_.seconds),
          "learningSecondsToTarget" -> reached.map(_.learning)): _*)
    }
  }
}
