package dwell.ml.regression

import org.apache.spark.ml.TrainingBridge
import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression, LinearRegressionBridge, LinearRegressionModel}
import org.apache.spark.ml.util.{DefaultParamsReadable, Identifiable}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.Dataset
import org.apache.spark.sql.catalyst.InternalRow

import dwell.data.TrainingRows
import dwell.ml.training.{LinearTask, LinearTraining}
import dwell.problem.{Huber, Loss, Penalty, Squared}
import dwell.solver.linear.LinearSolution

/**
 * Spark's `LinearRegression`, trained by native local solvers: Newton's method where features are few, otherwise CoCoA or L-BFGS.
 *
 * Params, setters and defaults are inherited, and `fit` returns Spark's own `LinearRegressionModel` with its training
 * summary. The objective is the one that Spark's choice of solver would have minimised,
 *
 * {{{
 *   1/(2S) sum_j s_j (y_j - b - x_j^T a)^2 + regParam [ elasticNetParam sum_i u_i |a_i|
 *                                                     + (1 - elasticNetParam) / (2 sd_y) sum_i u_i^2 a_i^2 ]
 * }}}
 *
 * with u_i the deviation of feature i (1 if `standardization` is off) and sd_y the deviation of the label. Both are deviations
 * of the population for `solver` `normal` (Spark's `auto` up to 4096 features), and of the sample for `l-bfgs`. With `loss` `huber` the loss is
 * [[dwell.problem.Huber]]'s, its scale is fitted with the model, and sd_y is left out.
 *
 * `tol` bounds the relative suboptimality of the result: training stops once the duality gap is at most `tol` times the
 * objective. `maxIter` bounds the number of rounds. [[dwell.report.FitReport]] holds the certificate.
 *
 * Without a penalty or with the loss of Huber, and with more than 4096 features, a fit has no certificate. Where the native library cannot
 * load, Spark's own code, the superclass, trains after one WARN, or `fit` throws if `spark.dwell.fallback` is `error`.
 */
class LinearRegression(override val uid: String)
    extends SparkLinearRegression(uid)
    with LinearTraining[LinearRegressionModel] {
  import LinearRegression._

  def this() = this(Identifiable.randomUID("linReg"))

  // As in Spark, the estimator itself defines the setters, so that in Java they return the estimator and can be
  // chained.
  def setAlgorithm(value: String): this.type = set(algorithm, value)
  def setOrientation(value: String): this.type = set(orientation, value)
  def setLocalWork(value: String): this.type = set(localWork, value)
  def setLocalWork(value: Double): this.type = set(localWork, value.toString)
  def setAggregation(value: String): this.type = set(aggregation, value)
  def setNumWorkers(value: Int): this.type = set(numWorkers, value)
  def setStepSize(value: String): this.type = set(stepSize, value)
  def setStepSize(value: Double): this.type = set(stepSize, value.toString)

  // In Spark these return Spark's own class, and in Scala a chain could not go on with the setters above.
  override def setLabelCol(value: String): this.type = set(labelCol, value)
  override def setFeaturesCol(value: String): this.type = set(featuresCol, value)
  override def setPredictionCol(value: String): this.type = set(predictionCol, value)

  override protected def train(dataset: Dataset[_]): LinearRegressionModel = trainLinear(dataset)

  private[ml] override def task(dataset: Dataset[_]): LinearTask[LinearRegressionModel] = new Task(dataset)

  override def copy(extra: ParamMap): LinearRegression = defaultCopy(extra)

  private def trainBySuperclass(dataset: Dataset[_]): LinearRegressionModel = super.train(dataset)

  private final class Task(dataset: Dataset[_]) extends LinearTask[LinearRegressionModel] {

    override def loss: Loss = if (isHuber) Huber($(epsilon)) else Squared

    override def penalty: Penalty = Penalty.of($(regParam), $(elasticNetParam))

    override def l2Divisor: Option[String] = if (isHuber) None else Some("the label's deviation")

    override def rows(fold: Option[String]): RDD[InternalRow] =
      TrainingBridge.rows(LinearRegression.this, dataset, fold = fold)

    override def refused(numFeatures: Int): Option[String] =
      if (!byNormal(numFeatures)) super.refused(numFeatures)
      else if (numFeatures > LinearRegressionBridge.maxFeaturesForNormal) {
        Some(s"solver=normal takes at most ${LinearRegressionBridge.maxFeaturesForNormal} features")
      } else if ($(maxIter) == 0) Some("the solver of normal equations takes no maxIter of 0")
      else None

    override def refused(data: TrainingRows): Option[String] =
      if (data.labelConstant && known(data).isEmpty && $(regParam) > 0.0) Some("the label is constant") else None

    override def known(data: TrainingRows): Option[(Array[Double], Array[Double])] =
      if (data.labelConstant && ($(fitIntercept) || data.labelMean == 0.0))
        Some((new Array[Double](data.vectorLength), Array(data.labelMean)))
      else None

    /** For squared errors the label's deviation divides the L2 penalty, but not the L1 penalty. */
    override def penaltyOn(data: TrainingRows): Penalty =
      penalty.copy(
        l2 = if (isHuber) penalty.l2 else penalty.l2 / labelDeviation(data),
        scaleFactor = if ($(standardization)) varianceFactor(data) else 0.0)

    override def model(data: TrainingRows, solution: LinearSolution): LinearRegressionModel = {
      // Spark's objective history of squared errors is in units of the scaled label.
      val unit = if (isHuber || known(data).nonEmpty) 1.0 else labelDeviation(data) * labelDeviation(data)
      val coefficients = Vectors.dense(solution.coefficients).compressed
      val model =
        copyValues(LinearRegressionBridge.model(uid, coefficients, solution.intercept, solution.scale.getOrElse(1.0)))
      LinearRegressionBridge.attachSummary(
        model,
        dataset,
        solution.facts.rounds.map(_.objective / unit).toArray,
        if (byNormal(data.vectorLength)) solution.inverseDiagonal else None)
    }

    override def trainBySpark(): LinearRegressionModel = trainBySuperclass(dataset)

    /** As in Spark, a constant label is its own unit. */
    private def labelDeviation(data: TrainingRows): Double =
      if (data.labelConstant) math.abs(data.labelMean) else math.sqrt(data.labelVariance * varianceFactor(data))

    private def varianceFactor(data: TrainingRows): Double = if (byNormal(data.vectorLength)) 1.0 else data.sampleFactor

    /** Whether Spark would solve the normal equations. */
    private def byNormal(numFeatures: Int): Boolean =
      !isHuber &&
        ($(solver) == Normal || ($(solver) == Auto && numFeatures <= LinearRegressionBridge.maxFeaturesForNormal))

    private def isHuber: Boolean = $(LinearRegression.this.loss) == HuberError
  }
}

object LinearRegression extends DefaultParamsReadable[LinearRegression] {

  private val HuberError = "huber"
  private val Normal = "normal"
  private val Auto = "auto"

  override def load(path: String): LinearRegression = super.load(path)
}
