package dwell.ml.tuning.metric

import org.apache.spark.ml.Model
import org.apache.spark.ml.evaluation._

/** The metrics of Spark's evaluators. */
private[tuning] object EvaluatorMetric {

  /**
   * The metric of an evaluator, if it is one of Spark's own, and the columns that it reads are what `model` was trained on and what it puts
   * out. Then Spark's evaluator has nothing to say that the rows of the training do not.
   *
   * @param columns
   *   label and weight of the training rows
   */
  def of(evaluator: Evaluator, model: Model[_], columns: TrainingColumns): Option[Metric] = {
    def reads(label: String, weight: Option[String]): Boolean =
      label == columns.label && weight.filter(_.nonEmpty) == columns.weight
    evaluator match {
      case e: BinaryClassificationEvaluator if e.getClass == classOf[BinaryClassificationEvaluator] =>
        val fits =
          reads(e.getLabelCol, e.get(e.weightCol)) && Output.names(model, "rawPredictionCol", e.getRawPredictionCol)
        if (fits && Output.isBinary(model)) Areas.of(e.getMetricName, e.getNumBins) else None
      case e: MulticlassClassificationEvaluator if e.getClass == classOf[MulticlassClassificationEvaluator] =>
        val isLoss = e.getMetricName == Confusion.LogLoss
        val column =
          if (isLoss) Output.names(model, "probabilityCol", e.getProbabilityCol)
          else Output.names(model, "predictionCol", e.getPredictionCol)
        if (!reads(e.getLabelCol, e.get(e.weightCol)) || !column) None
        else if (isLoss) Some(new LogLoss(e.getEps))
        else Some(new Confusion(e.getMetricName, e.getMetricLabel, e.getBeta))
      case e: RegressionEvaluator if e.getClass == classOf[RegressionEvaluator] =>
        if (reads(e.getLabelCol, e.get(e.weightCol)) && Output.names(model, "predictionCol", e.getPredictionCol))
          Some(new Residuals(e.getMetricName, e.getThroughOrigin))
        else None
      case _ => None
    }
  }
}
