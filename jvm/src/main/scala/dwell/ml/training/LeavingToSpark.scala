package dwell.ml.training

import org.apache.spark.SparkContext
import org.apache.spark.ml.{ClientWarnings, Model, PipelineStage}

import dwell.fit.DwellConf
import dwell.record.FitFacts
import dwell.report.SparkFitReport
import dwell.spark.{NativeLibrary, SessionWarnings}

/** An estimator that leaves the problems that it does not solve to Spark's own code. */
private[ml] trait LeavingToSpark extends PipelineStage {

  /** A WARN also goes to the client of Spark Connect that waits for the fit. */
  override protected def logWarning(msg: => String): Unit = {
    super.logWarning(msg)
    ClientWarnings.add(msg)
  }

  /**
   * Logs one WARN, of the library one a session, and trains with Spark's own code.
   *
   * @param reason
   *   why the estimator does not train natively
   * @param missing
   *   the feature that Spark's own code lacks, if it cannot take over
   * @param train
   *   calls Spark's own code
   * @param facts
   *   what is known of the fit, once the model is trained
   * @throws UnsupportedOperationException
   *   if `spark.dwell.fallback` is `error`, or Spark's own code cannot take over
   */
  private[ml] final def leaveToSpark[M <: Model[_]](conf: DwellConf, reason: String, missing: Option[String])(
      train: => M)(facts: M => FitFacts): M = {
    val why = reason.stripSuffix(".")
    if (conf.fallbackIsError) {
      throw new UnsupportedOperationException(
        s"$uid is not trained natively: $why. ${DwellConf.Fallback}=error forbids training by Spark's own code.")
    }
    missing.foreach { missing =>
      throw new UnsupportedOperationException(
        s"$uid is not trained natively: $why. Spark's own code cannot take over: $missing.")
    }
    val line = s"$uid is trained by Spark's own code: $why."
    if (!NativeLibrary.isMissingFor(reason)) logWarning(line)
    else if (SessionWarnings.isNew(SparkContext.getOrCreate(), reason))
      logWarning(s"$line Later fits of this session do not repeat it.")
    else {
      logInfo(line)
      ClientWarnings.add(line)
    }
    val model = train
    val known = FitLog.withCoefficients(facts(model), model)
    FitLog.reported(
      this,
      model,
      SparkFitReport(uid, reason, known.copy(algorithm = "spark", request = FitLog.requested(this))))
  }
}
