package dwell.ml.training

import java.time.Instant
import java.time.temporal.ChronoUnit

import org.apache.spark.internal.Logging
import org.apache.spark.ml.{Model, PipelineStage}

import dwell.record.{FitFacts, FitRequest}
import dwell.report.{FitReport, ModelNumbers}
import dwell.session.SessionReports
import dwell.spark.NativeLibrary

/** Logs one INFO line a fit: the Params that were set, and how it went. */
private[ml] object FitLog extends Logging {

  /** What decides most about a fit. */
  private val Deciding = Seq("regParam", "elasticNetParam", "k", "maxIter", "tol", "algorithm")

  private val Columns = Seq("featuresCol", "labelCol", "weightCol")

  /** What the estimator was asked for. */
  def requested(estimator: PipelineStage): FitRequest = {
    val params = (Columns ++ Deciding).filter(estimator.hasParam).map(estimator.getParam)
    val all = params.filter(estimator.isDefined) ++ estimator.params.filterNot(params.contains).filter(estimator.isSet)
    FitRequest(
      estimator.getClass.getSimpleName,
      all.map(param => param.name -> plain(estimator.getOrDefault(param))),
      NativeLibrary.version,
      Instant.now().truncatedTo(ChronoUnit.SECONDS))
  }

  /** The value of a Param as a number or a short text. */
  def plain(value: Any): Any = value match {
    case plain @ (_: Boolean | _: Int | _: Long | _: Double | _: String) => plain
    case array: Array[_] if array.length <= 16 => array.mkString("[", ", ", "]")
    case array: Array[_] => s"${array.length} values"
    case other => other.toString.linesIterator.take(1).mkString.take(80)
  }

  /** The facts with the numbers of the model's coefficients. */
  def withCoefficients(facts: FitFacts, model: Model[_]): FitFacts =
    ModelNumbers.coefficients(model).fold(facts) { case (all, stored) =>
      facts.copy(coefficients = all, nonzeroCoefficients = stored.count(_ != 0.0).toLong)
    }

  /** Logs the fit, and keeps the report of its model. */
  def reported[M <: Model[_]](estimator: PipelineStage, model: M, report: FitReport): M = {
    val asked = Deciding
      .filter(name => estimator.hasParam(name) && estimator.isSet(estimator.getParam(name)))
      .map(name => s"$name=${estimator.getOrDefault(estimator.getParam(name))}")
    logInfo((Seq(s"fit: ${estimator.getClass.getSimpleName} ${estimator.uid}") ++ asked ++ told(report)).mkString(" "))
    SessionReports.keep(report)
    FitReport.attach(model, report)
  }

  private def told(report: FitReport): Seq[String] = {
    val made = report.rounds.lastOption.map(r => s"rounds=${r.round}")
    val proven = if (report.relativeGap.isNaN) None else Some(f"gap=${report.relativeGap}%.1e")
    val features = f"${report.numFeatures}%,d"
    val shape = if (report.numRows > 0) f"${report.numRows}%,d x $features" else s"$features features"
    (Seq(report.algorithm) ++ made ++ proven) ++ Seq(f"${report.totalSeconds}%.2f s", shape)
  }
}
