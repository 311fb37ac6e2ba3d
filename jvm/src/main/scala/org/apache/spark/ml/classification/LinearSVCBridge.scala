package org.apache.spark.ml.classification

import org.apache.spark.ml.{SummaryOnDemand, TrainingBridge}
import org.apache.spark.ml.linalg.Vector
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.sql.Dataset

/** Members private to Spark ML that `dwell.ml.classification.LinearSVC` needs. */
object LinearSVCBridge {

  /** A model of these coefficients, one for each feature. */
  def model(uid: String, coefficients: Vector, intercept: Double): LinearSVCModel =
    new LinearSVCModel(uid, coefficients, intercept)

  /**
   * Attaches Spark's training summary, which is made when it is asked for. The caller must have copied the Params to
   * the model, because the summary reads the column names from them.
   *
   * @param objectiveHistory
   *   objective at the start and after each round
   */
  def attachSummary(model: LinearSVCModel, dataset: Dataset[_], objectiveHistory: Array[Double]): LinearSVCModel = {
    val (found, rawPredictionColumn, predictionColumn) = model.findSummaryModel()
    // The user may set other Params before the summary is asked for.
    val summaryModel = found.copy(ParamMap.empty)
    val labelColumn = model.getLabelCol
    // As in Spark: the name of the Param if there is no such column.
    val weightColumn = if (model.isDefined(model.weightCol)) model.getWeightCol else "weightCol"
    val own = new SummaryOnDemand(
      objectiveHistory,
      () =>
        new LinearSVCTrainingSummaryImpl(
          summaryModel.transform(dataset),
          rawPredictionColumn,
          predictionColumn,
          labelColumn,
          weightColumn,
          objectiveHistory))
    model.setSummary(Some(TrainingBridge.withoutConstructor(classOf[LinearSVCSummaryOnDemand]).waitFor(own)))
  }
}
