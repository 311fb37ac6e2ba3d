package org.apache.spark.ml.classification

import org.apache.spark.ml.linalg.{DenseMatrix, Vectors}
import org.apache.spark.sql.Dataset

/** The members of Spark ML that are private to Spark and that `dwell.ml.classification.LogisticRegression` needs. */
object LogisticRegressionBridge {

  /** A binomial model, its coefficients stored as Spark's own training stores them. */
  def model(uid: String, coefficients: Array[Double], intercept: Double): LogisticRegressionModel =
    new LogisticRegressionModel(
      uid,
      new DenseMatrix(1, coefficients.length, coefficients, isTransposed = true).compressed,
      Vectors.dense(intercept).compressed,
      numClasses = 2,
      isMultinomial = false)

  /**
   * Attaches Spark's training summary. To be called after the Params were copied to the model, because the summary
   * reads the column names from them.
   *
   * @param objectiveHistory
   *   objective at the start and after each round
   */
  def attachSummary(
      model: LogisticRegressionModel,
      dataset: Dataset[_],
      objectiveHistory: Array[Double]): LogisticRegressionModel = {
    val (summaryModel, probabilityColumn, predictionColumn) = model.findSummaryModel()
    model.setSummary(
      Some(
        new BinaryLogisticRegressionTrainingSummaryImpl(
          summaryModel.transform(dataset),
          probabilityColumn,
          predictionColumn,
          model.getLabelCol,
          model.getFeaturesCol,
          // As Spark has it: the name of the Param where there is no such column.
          if (model.isDefined(model.weightCol)) model.getWeightCol else "weightCol",
          objectiveHistory)))
  }
}
