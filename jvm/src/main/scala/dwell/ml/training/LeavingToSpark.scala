package dwell.ml.training

import org.apache.spark.ml.{Model, PipelineStage}

import dwell.fit.DwellConf
import dwell.report.{FitReport, SparkFitReport}

/** An estimator that leaves what it does not solve to Spark's own code. */
private[ml] trait LeavingToSpark extends PipelineStage {

  /**
   * The model that `train`, Spark's own code, trains, after one WARN.
   *
   * @param reason
   *   why it is not trained natively
   * @param missing
   *   what Spark's own code does not have and so cannot take over
   * @param report
   *   of the fit, made once the model is trained
   * @throws UnsupportedOperationException
   *   where `spark.dwell.fallback` is `error`, or Spark cannot take over
   */
  private[ml] final def leaveToSpark[M <: Model[_]](conf: DwellConf, reason: String, missing: Option[String])(
      train: => M)(report: M => SparkFitReport): M = {
    if (conf.fallbackIsError) {
      throw new UnsupportedOperationException(
        s"$uid is not trained natively: $reason. ${DwellConf.Fallback}=error forbids to train it by Spark's own code.")
    }
    missing.foreach { missing =>
      throw new UnsupportedOperationException(
        s"$uid is not trained natively: $reason. Spark's own code cannot take over: $missing.")
    }
    logWarning(s"$uid is trained by Spark's own code: $reason.")
    val model = train
    FitReport.attach(model, report(model))
  }
}
