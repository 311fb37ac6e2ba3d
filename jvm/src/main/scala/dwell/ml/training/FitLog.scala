package dwell.ml.training

import org.apache.spark.internal.Logging
import org.apache.spark.ml.{Model, PipelineStage}

import dwell.report.FitReport

/** Logs one INFO line a fit: the Params that were set, and how it went. */
private[ml] object FitLog extends Logging {

  /** What decides most about a fit. */
  private val Params = Seq("regParam", "elasticNetParam", "k", "maxIter", "tol", "algorithm")

  /** Logs the fit, and keeps the report of its model. */
  def reported[M <: Model[_]](estimator: PipelineStage, model: M, report: FitReport): M = {
    val asked = Params
      .filter(name => estimator.hasParam(name) && estimator.isSet(estimator.getParam(name)))
      .map(name => s"$name=${estimator.getOrDefault(estimator.getParam(name))}")
    logInfo((Seq(s"fit: ${estimator.getClass.getSimpleName} ${estimator.uid}") ++ asked ++ told(report)).mkString(" "))
    FitReport.attach(model, report)
  }

  private def told(report: FitReport): Seq[String] = {
    val made = report.rounds.lastOption.map(r => s"rounds=${r.round}")
    val proven = Option.unless(report.relativeGap.isNaN)(f"gap=${report.relativeGap}%.1e")
    val features = f"${report.numFeatures}%,d"
    val shape = if (report.numRows > 0) f"${report.numRows}%,d x $features" else s"$features features"
    (Seq(report.algorithm) ++ made ++ proven) ++ Seq(f"${report.totalSeconds}%.2f s", shape)
  }
}
