package org.apache.spark.ml.regression

import org.apache.spark.ml.linalg.Vector
import org.apache.spark.sql.Dataset

/** The members of Spark ML that are private to Spark and that `dwell.ml.regression.LinearRegression` needs. */
object LinearRegressionBridge {

  /** Widest problem that Spark's `normal` solver takes, which is also where its `auto` changes to `l-bfgs`. */
  def maxFeaturesForNormal: Int = LinearRegression.MAX_FEATURES_FOR_NORMAL_SOLVER

  def model(uid: String, coefficients: Vector, intercept: Double): LinearRegressionModel =
    new LinearRegressionModel(uid, coefficients, intercept)

  /**
   * Attaches Spark's training summary. To be called after the Params were copied to the model, because the summary
   * reads the column names from them.
   *
   * @param objectiveHistory
   *   objective at zero iterations and after each iteration, in the units of Spark's l-bfgs solver
   */
  def attachSummary(
      model: LinearRegressionModel,
      dataset: Dataset[_],
      objectiveHistory: Array[Double]): LinearRegressionModel = {
    val (summaryModel, predictionColumn) = model.findSummaryModelAndPredictionCol()
    val predictions = summaryModel.transform(dataset)
    // What Spark's own l-bfgs path passes: standard errors are not available.
    val diagInvAtWA = Array(0.0)
    val labelColumn = model.getLabelCol
    val featuresColumn = model.getFeaturesCol
    // Spark 4.1 added four arguments. One jar serves every version, so the constructor is chosen at run time.
    val constructor = classOf[LinearRegressionTrainingSummary].getConstructors.maxBy(_.getParameterCount)
    val arguments: Seq[Any] = constructor.getParameterCount match {
      case 7 =>
        Seq(predictions, predictionColumn, labelColumn, featuresColumn, summaryModel, diagInvAtWA, objectiveHistory)
      case 10 =>
        val weightColumn = if (model.isDefined(model.weightCol)) model.getWeightCol else ""
        Seq(
          predictions,
          predictionColumn,
          labelColumn,
          featuresColumn,
          weightColumn,
          model.numFeatures,
          model.getFitIntercept,
          diagInvAtWA,
          objectiveHistory,
          Array.emptyDoubleArray)
      case n =>
        throw new UnsupportedOperationException(
          s"LinearRegressionTrainingSummary takes $n arguments in Spark ${org.apache.spark.SPARK_VERSION}, which this " +
            "version of Dwell does not know. Use a Spark version from the README's table.")
    }
    val summary =
      constructor.newInstance(arguments.map(_.asInstanceOf[AnyRef]): _*).asInstanceOf[LinearRegressionTrainingSummary]
    model.setSummary(Some(summary))
    model
  }
}
