package org.apache.spark.ml.classification

import org.apache.spark.ml.linalg.Vector
import org.apache.spark.sql.Dataset

/** The members of Spark ML that are private to Spark and that `dwell.ml.classification.LinearSVC` needs. */
object LinearSVCBridge {

  def model(uid: String, coefficients: Vector, intercept: Double): LinearSVCModel =
    new LinearSVCModel(uid, coefficients, intercept)

  /**
   * Attaches Spark's training summary. To be called after the Params were copied to the model, because the summary
   * reads the column names from them.
   *
   * @param objectiveHistory
   *   objective at the start and after each round
   */
  def attachSummary(model: LinearSVCModel, dataset: Dataset[_], objectiveHistory: Array[Double]): LinearSVCModel = {
    val (summaryModel, rawPredictionColumn, predictionColumn) = model.findSummaryModel()
    model.setSummary(
      Some(
        new LinearSVCTrainingSummaryImpl(
          summaryModel.transform(dataset),
          rawPredictionColumn,
          predictionColumn,
          model.getLabelCol,
          // As Spark has it: the name of the Param where there is no such column.
          if (model.isDefined(model.weightCol)) model.getWeightCol else "weightCol",
          objectiveHistory)))
  }
}
