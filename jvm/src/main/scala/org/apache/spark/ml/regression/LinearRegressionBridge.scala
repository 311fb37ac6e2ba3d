package org.apache.spark.ml.regression

import java.lang.reflect.{InvocationTargetException, Modifier}

import org.apache.spark.ml.{SummaryOnDemand, TrainingBridge}
import org.apache.spark.ml.linalg.Vector
import org.apache.spark.ml.param.Param
import org.apache.spark.sql.Dataset

/** Members private to Spark ML that `dwell.ml.regression.LinearRegression` needs. */
object LinearRegressionBridge {

  /**
   * The largest number of features that Spark's `normal` solver takes. Above it, Spark's `auto` changes to `l-bfgs`.
   */
  def maxFeaturesForNormal: Int = LinearRegression.MAX_FEATURES_FOR_NORMAL_SOLVER

  /** A model of these coefficients, one for each feature. */
  def model(uid: String, coefficients: Vector, intercept: Double, scale: Double): LinearRegressionModel =
    new LinearRegressionModel(uid, coefficients, intercept, scale)

  /**
   * Attaches Spark's training summary, which is made when it is asked for. The caller must have copied the Params to
   * the model, because the summary reads the column names from them.
   *
   * @param objectiveHistory
   *   objective at the start and after each round, in the units of Spark's l-bfgs solver
   * @param inverseDiagonal
   *   the diagonal from which standard errors come, as Spark's `normal` solver defines it
   */
  def attachSummary(
      model: LinearRegressionModel,
      dataset: Dataset[_],
      objectiveHistory: Array[Double],
      inverseDiagonal: Option[Array[Double]]): LinearRegressionModel = {
    val (found, predictionColumn) = model.findSummaryModelAndPredictionCol()
    // The user may set other Params before the summary is asked for.
    val summaryModel = predicting(found)
    // Without it, as in Spark's own l-bfgs path, standard errors are not available.
    val diagInvAtWA = inverseDiagonal.getOrElse(Array(0.0))
    val labelColumn = model.getLabelCol
    val featuresColumn = model.getFeaturesCol
    val weightColumn = if (model.isDefined(model.weightCol)) model.getWeightCol else ""
    val coefficients = model.coefficients.toArray ++ (if (model.getFitIntercept) Some(model.intercept) else None)
    def own(): LinearRegressionTrainingSummary = {
      val predictions = summaryModel.transform(dataset)
      // Spark 4.1 changed the arguments. One jar serves every version, so the constructor is chosen at run time.
      val constructor = classOf[LinearRegressionTrainingSummary].getConstructors.maxBy(_.getParameterCount)
      val arguments: Seq[Any] = constructor.getParameterCount match {
        case 7 =>
          Seq(predictions, predictionColumn, labelColumn, featuresColumn, summaryModel, diagInvAtWA, objectiveHistory)
        case 10 =>
          Seq(
            predictions,
            predictionColumn,
            labelColumn,
            featuresColumn,
            weightColumn,
            summaryModel.numFeatures,
            summaryModel.getFitIntercept,
            diagInvAtWA,
            objectiveHistory,
            coefficients)
        case n =>
          throw new UnsupportedOperationException(
            s"LinearRegressionTrainingSummary takes $n arguments in Spark ${org.apache.spark.SPARK_VERSION}, which this " +
              "version of Dwell does not know. Use a Spark version from the README's table.")
      }
      // The summary reads the rows, and may be the first to find them changed.
      val made =
        try constructor.newInstance(arguments.map(_.asInstanceOf[AnyRef]): _*)
        catch { case e: InvocationTargetException => throw e.getCause }
      made.asInstanceOf[LinearRegressionTrainingSummary]
    }
    val summary =
      if (membersWait)
        TrainingBridge
          .withoutConstructor(classOf[LinearRegressionSummaryOnDemand])
          .waitFor(new SummaryOnDemand(objectiveHistory, () => own()), diagInvAtWA, coefficients)
      else own()
    model.setSummary(Some(summary))
    model
  }

  /** Whether the summary on demand has every member of Spark's. One that a later Spark adds would find no values. */
  private lazy val membersWait: Boolean = {
    val waiting = classOf[LinearRegressionSummaryOnDemand]
    classOf[LinearRegressionTrainingSummary].getMethods
      .filterNot(method => Modifier.isStatic(method.getModifiers) || method.getDeclaringClass == classOf[Object])
      .forall(method =>
        waiting.getMethod(method.getName, method.getParameterTypes.toSeq: _*).getDeclaringClass == waiting)
  }

  /**
   * The same model with dense coefficients: the metrics of a summary predict every row, and a sparse row is then multiplied by its own
   * entries instead of all of sparse coefficients.
   */
  private def predicting(model: LinearRegressionModel): LinearRegressionModel = {
    val dense = new LinearRegressionModel(model.uid, model.coefficients.toDense, model.intercept, model.scale)
    model.params.filter(model.isDefined(_)).foreach { param =>
      dense.set(dense.getParam(param.name).asInstanceOf[Param[Any]], model.getOrDefault(param))
    }
    dense
  }
}
