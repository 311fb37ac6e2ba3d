package dwell.bench.cd

import scala.collection.mutable

import org.apache.spark.ml.{Estimator, Model}
import org.apache.spark.sql.DataFrame

import dwell.bench.Bench
import dwell.report.FitReport

/**
 * An estimator of Dwell beside Spark's own: seconds of a whole `fit` to a relative suboptimality, on the same cluster and
 * the same cached data, in one run, the two in turn.
 *
 * The optimum is the lower bound of a long fit by Dwell, so that both are measured against a proven value. How many
 * iterations each needs is read off its objective history in one long fit; then fits of just so many iterations are
 * timed, set-up included (for Spark: its summaries; for Dwell: flattening and transposing). That does not ask Dwell to
 * know when it is done: the third system is Dwell with the target as its `tol`, which stops by its own certificate.
 *
 * @param proofTolerance
 *   relative gap to which the optimum is bounded
 * @param sparkIterations
 *   how many Spark has to reach the targets
 */
private[bench] final class BesideSpark(targets: Seq[Double], proofTolerance: Double, sparkIterations: Int) {
  import BesideSpark._

  def compare(bench: Bench, c: Case): Unit = {
    println(
      s"\n== ${c.estimator}, ${c.name} (${Bench.shape(c.data)}), ${c.params.map(p => s"${p._1} ${p._2}").mkString(", ")}")
    val proof = ours(c, 1000, proofTolerance)
    val report = FitReport.of(proof)
    println(report.toText)
    require(report.solver == "native", report.toText)
    val optimum = last(proof) * (report.dual / report.objective)
    val long = Bench.timed[Model[_]](theirs(c, sparkIterations))
    println(f"$Spark: $sparkIterations iterations in ${long.seconds}%.2f s")
    val histories = Seq(Dwell -> Bench.history(proof), Spark -> Bench.history(long.result))
    histories.foreach { case (system, history) =>
      println(
        f"$system%-14s best relative suboptimality ${history.min / optimum - 1.0}%.2e in ${history.length - 1} iterations")
    }
    val runs = for {
      target <- targets
      system <- Seq(Dwell, DwellTol, Spark)
    } yield {
      val at = histories.find(_._1 == system).map(_._2.indexWhere(_ / optimum - 1.0 <= target))
      Run(target, system, at.filter(_ >= 0), runs = !at.contains(-1))
    }
    for (_ <- 1 to bench.repetitions; run <- runs if run.runs) {
      val fit = Bench.timed[Model[_]](run.system match {
        case Dwell => ours(c, run.iterations.get, 0.0)
        case DwellTol => ours(c, 1000, run.target)
        case _ => theirs(c, run.iterations.get)
      })
      val model = fit.result
      run.seconds += fit.seconds
      run.reached += last(model) / optimum - 1.0
      run.done += (if (run.system == Spark) Bench.history(model).length - 1 else FitReport.of(model).rounds.size - 1)
    }
    runs.foreach { run =>
      println(f"to ${run.target}%.0e: ${run.system}%-14s ${run.describe}")
      bench.add(
        "estimator" -> c.estimator,
        "data" -> c.name,
        "regParam" -> c.regParam,
        "elasticNetParam" -> c.elasticNet,
        "target" -> run.target,
        "system" -> run.system,
        "iterations" -> run.done.lastOption,
        "reached" -> run.reached.maxOption.orElse(
          Option.when(run.system == Spark)(histories.last._2.min / optimum - 1.0)),
        "longFitSeconds" -> Option.when(run.system == Spark)(long.seconds),
        "seconds" -> run.seconds)
    }
  }

  private def ours(c: Case, maxIter: Int, tol: Double): Model[_] =
    Bench.fit(c.ours, c.data, c.params ++ Seq("maxIter" -> maxIter, "tol" -> tol): _*)

  private def theirs(c: Case, maxIter: Int): Model[_] =
    Bench.fit(c.theirs, c.data, c.params ++ Seq("maxIter" -> maxIter, "tol" -> 0.0): _*)

  /** The objective of the model itself: the last round of a dual fit has that of the round before, or the one before that. */
  private def last(model: Model[_]): Double = {
    val history = Bench.history(model)
    FitReport.find(model).fold(history.last)(r => history.last * (r.objective / r.rounds.last.objective))
  }
}

private[bench] object BesideSpark {
  private val Dwell = "dwell"
  private val DwellTol = "dwell, tol"
  private val Spark = "spark l-bfgs"

  /**
   * @param params
   *   of both estimators
   */
  final case class Case(
      estimator: String,
      ours: Estimator[_],
      theirs: Estimator[_],
      name: String,
      data: DataFrame,
      params: Seq[(String, Any)]) {
    def regParam: Any = params.toMap.apply("regParam")
    def elasticNet: Any = params.toMap.getOrElse("elasticNetParam", 0.0)
  }

  /** @param runs false: the target was not reached */
  private final case class Run(target: Double, system: String, iterations: Option[Int], runs: Boolean) {
    val seconds = mutable.ArrayBuffer.empty[Double]
    val reached = mutable.ArrayBuffer.empty[Double]
    val done = mutable.ArrayBuffer.empty[Int]
    def describe: String =
      if (!runs) "not reached"
      else {
        f"${done.last}%3d iterations, median ${Bench
            .median(seconds.toSeq)}%.2f s of ${seconds.map(s => f"$s%.2f").mkString(" ")}, " +
          f"reached ${reached.max}%.1e"
      }
  }
}
