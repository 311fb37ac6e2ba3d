package org.apache.spark.ml.classification

import org.apache.spark.ml.{SummaryOnDemand, TrainingBridge}
import org.apache.spark.ml.linalg.{DenseMatrix, Vectors}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.sql.Dataset

/** Members private to Spark ML that `dwell.ml.classification.LogisticRegression` needs. */
object LogisticRegressionBridge {

  /**
   * A model that stores its coefficients as Spark's own training stores them.
   *
   * @param coefficients
   *   the coefficient of feature j and output c is at j C + c, where C is the number of intercepts
   * @param intercepts
   *   one for a binomial model, otherwise one for each class
   */
  def model(
      uid: String,
      coefficients: Array[Double],
      intercepts: Array[Double],
      numClasses: Int,
      isMultinomial: Boolean): LogisticRegressionModel = {
    val outputs = intercepts.length
    val features = coefficients.length / outputs
    val byOutput =
      if (outputs == 1) coefficients
      else Array.tabulate(coefficients.length)(i => coefficients((i % features) * outputs + i / features))
    new LogisticRegressionModel(
      uid,
      new DenseMatrix(outputs, features, byOutput, isTransposed = true).compressed,
      Vectors.dense(intercepts).compressed,
      numClasses,
      isMultinomial)
  }

  /**
   * Attaches Spark's training summary, which is made when it is asked for. The caller must have copied the Params to
   * the model, because the summary reads the column names from them.
   *
   * @param objectiveHistory
   *   objective at the start and after each round
   */
  def attachSummary(
      model: LogisticRegressionModel,
      dataset: Dataset[_],
      objectiveHistory: Array[Double]): LogisticRegressionModel = {
    val (found, probabilityColumn, predictionColumn) = model.findSummaryModel()
    // The user may set other Params before the summary is asked for.
    val summaryModel = found.copy(ParamMap.empty)
    val labelColumn = model.getLabelCol
    val featuresColumn = model.getFeaturesCol
    // As in Spark: the name of the Param if there is no such column.
    val weightColumn = if (model.isDefined(model.weightCol)) model.getWeightCol else "weightCol"
    val summary =
      if (model.numClasses <= 2) {
        val own = new SummaryOnDemand(
          objectiveHistory,
          () =>
            new BinaryLogisticRegressionTrainingSummaryImpl(
              summaryModel.transform(dataset),
              probabilityColumn,
              predictionColumn,
              labelColumn,
              featuresColumn,
              weightColumn,
              objectiveHistory))
        TrainingBridge.withoutConstructor(classOf[BinaryLogisticRegressionSummaryOnDemand]).waitFor(own)
      } else {
        val own = new SummaryOnDemand(
          objectiveHistory,
          () =>
            new LogisticRegressionTrainingSummaryImpl(
              summaryModel.transform(dataset),
              probabilityColumn,
              predictionColumn,
              labelColumn,
              featuresColumn,
              weightColumn,
              objectiveHistory))
        TrainingBridge.withoutConstructor(classOf[LogisticRegressionSummaryOnDemand]).waitFor(own)
      }
    model.setSummary(Some(summary))
  }
}
