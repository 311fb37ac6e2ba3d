package dwell.bench.cd

import org.apache.spark.ml.PredictionModel
import org.apache.spark.ml.classification.{LogisticRegression => SparkLogisticRegression}
import org.apache.spark.ml.evaluation.BinaryClassificationEvaluator
import org.apache.spark.ml.tuning.{CrossValidator, CrossValidatorModel, ParamGridBuilder}
import org.apache.spark.sql.DataFrame

import dwell.bench.{Bench, BenchData}
import dwell.fit.DwellConf
import dwell.ml.classification.LogisticRegression
import dwell.report.FitReport

/**
 * A grid of ten penalties in a CrossValidator of three folds: LogisticRegression by Dwell, with and without sharing of
 * data and solutions between the fits, beside Spark's. Seconds of the whole `fit`, evaluation and splitting included, on
 * the same cluster and the same cached data, in one run, in turn.
 *
 * The stopping rules are not the same: Spark stops by the change of the objective, at its default `tol` of 1e-6, or after its
 * default of 100 iterations, Dwell by the duality gap, relative to the objective, at `GapTolerance`. What comes out is therefore compared too: the metric of
 * each penalty, as the largest difference to Spark's.
 */
object GridBench {

  private val Folds = 3
  private val GapTolerance = 1e-4

  private final case class Case(name: String, data: DataFrame, standardization: Boolean, penalties: Seq[Double])

  /** @param share None: Spark's own estimator */
  private final case class System(name: String, share: Option[Boolean])

  private val Systems =
    Seq(System("dwell", Some(true)), System("dwell, not sharing", Some(false)), System("spark", None))

  private final case class Timing(
      data: String,
      system: String,
      seconds: Seq[Double],
      metrics: Seq[Double],
      best: Double) {
    def median: Double = Bench.median(seconds)
  }

  def main(args: Array[String]): Unit = Bench.run("grid bench", args) { bench =>
    run(bench, Case("wide, shaped like news20", bench.wideClasses, standardization = false, decades(1e-6, 1e-3)))
    bench.packages.map(BenchData.twoClasses).foreach { data =>
      run(bench, Case("packages", data, standardization = true, decades(1e-3, 1.0)))
    }
  }

  private def run(bench: Bench, c: Case): Unit = {
    println(s"\n== ${c.name}: ${c.data.count()} rows, ${c.penalties.size} penalties, $Folds folds")
    val fits = for (_ <- 1 to bench.repetitions; system <- Systems) yield {
      system.share.foreach(share => bench.spark.conf.set(DwellConf.ShareData, share))
      val fit = Bench.timed(validator(c, system).fit(c.data))
      if (system.share.isDefined) checkNative(fit.result)
      (system, fit.seconds, fit.result)
    }
    val timings = Systems.map { system =>
      val (seconds, models) = fits.collect { case (s, t, model) if s == system => (t, model) }.unzip
      val best = models.last.bestModel.asInstanceOf[SparkModel]
      Timing(c.name, system.name, seconds, models.last.avgMetrics.toSeq, best.getOrDefault(regParamOf(best)))
    }
    timings.foreach { t =>
      val apart = t.metrics.zip(timings.last.metrics).map { case (a, b) => math.abs(a - b) }.max
      println(
        f"${t.system}%-20s median ${t.median}%.2f s of ${t.seconds.map(s => f"$s%.2f").mkString(" ")}, best regParam " +
          f"${t.best}%.2e, area under ROC ${t.metrics.max}%.4f, at most $apart%.1e from Spark's")
      bench.add(
        "data" -> t.data,
        "system" -> t.system,
        "folds" -> Folds,
        "penalties" -> t.metrics.size,
        "bestRegParam" -> t.best,
        "metrics" -> t.metrics,
        "seconds" -> t.seconds)
    }
  }

  private type SparkModel = PredictionModel[_, _]

  private def regParamOf(model: SparkModel) =
    model.getParam("regParam").asInstanceOf[org.apache.spark.ml.param.Param[Double]]

  private def checkNative(model: CrossValidatorModel): Unit = {
    val report =
      FitReport.of(model.bestModel.asInstanceOf[org.apache.spark.ml.classification.LogisticRegressionModel])
    require(report.solver == "native" && report.converged, report.toText)
  }

  private def validator(c: Case, system: System): CrossValidator = {
    val estimator =
      if (system.share.isDefined) new LogisticRegression().setTol(GapTolerance).setMaxIter(1000)
      else new SparkLogisticRegression()
    estimator.setStandardization(c.standardization)
    new CrossValidator()
      .setEstimator(estimator)
      .setEvaluator(new BinaryClassificationEvaluator())
      .setEstimatorParamMaps(new ParamGridBuilder().addGrid(estimator.regParam, c.penalties.toArray).build())
      .setNumFolds(Folds)
      .setSeed(1L)
  }

  /** Ten values from the largest to the smallest, which is the order that a start from the last one gains most by. */
  private def decades(smallest: Double, largest: Double): Seq[Double] =
    (0 until 10).map(i => largest * math.pow(smallest / largest, i / 9.0))
}
