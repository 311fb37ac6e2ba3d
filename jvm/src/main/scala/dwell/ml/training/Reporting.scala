package dwell.ml.training

import org.apache.spark.ml.{Model, PipelineStage}

import dwell.report.FitReport

/** An estimator whose fits have reports. */
private[ml] trait Reporting extends PipelineStage {

  /** Keeps the report of a model, and logs one INFO line about the fit, with the Params that were set. */
  private[ml] final def reported[M <: Model[_]](model: M, report: FitReport): M = {
    val asked = Reporting.Logged.filter(name => hasParam(name) && isSet(getParam(name))).map { name =>
      s"$name=${getOrDefault(getParam(name))}"
    }
    logInfo((Seq(s"fit: ${getClass.getSimpleName} $uid") ++ asked :+ report.toLogLine).mkString(" "))
    FitReport.attach(model, report)
  }
}

private object Reporting {

  /** What decides most about a fit. */
  private val Logged = Seq("regParam", "elasticNetParam", "k", "maxIter", "tol", "algorithm")
}
