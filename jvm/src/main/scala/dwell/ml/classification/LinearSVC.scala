package dwell.ml.classification

import org.apache.spark.ml.TrainingBridge
import org.apache.spark.ml.classification.{LinearSVC => SparkLinearSVC, LinearSVCBridge, LinearSVCModel}
import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.ml.param.{Param, ParamMap}
import org.apache.spark.ml.util.{DefaultParamsReadable, Identifiable}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.Dataset
import org.apache.spark.sql.catalyst.InternalRow

import dwell.data.TrainingRows
import dwell.ml.param.ParamValues
import dwell.ml.training.{LinearTask, LinearTraining}
import dwell.problem.{Hinge, MarginLoss, Penalty, SquaredHinge}
import dwell.solver.linear.LinearSolution

/**
 * Spark's `LinearSVC`, trained by native local solvers: Newton's method on proximal problems where features are few, otherwise CoCoA
 * or L-BFGS.
 *
 * Params, setters and defaults are inherited, and `fit` returns Spark's own `LinearSVCModel` with its training summary.
 * The objective is Spark's,
 *
 * {{{
 *   1/S sum_j s_j max(0, 1 - y_j (b + x_j^T a)) + regParam / 2 sum_i u_i^2 a_i^2
 * }}}
 *
 * with y_j in {-1, 1}, and u_i the sample deviation of feature i (1 if `standardization` is off). With a
 * penalty the hinge keeps its corner. Without one, and where L-BFGS goes on, the corner is rounded off and becomes sharper in stages. With `loss` squaredHinge, which Spark does not have, the maximum is squared.
 *
 * `tol` bounds the relative suboptimality of the result: training stops once the duality gap is at most `tol` times the
 * objective. `maxIter` bounds the number of rounds. [[dwell.report.FitReport]] holds the certificate.
 *
 * Without a penalty there is no certificate. Where the native library cannot load, Spark's own code, the superclass, trains after one
 * WARN, or `fit` throws if `spark.dwell.fallback` is `error` or `loss` is squaredHinge.
 */
class LinearSVC(override val uid: String) extends SparkLinearSVC(uid) with LinearTraining[LinearSVCModel] {
  import LinearSVC._

  def this() = this(Identifiable.randomUID("linearsvc"))

  /** The loss that is minimised: `hinge`, as in Spark, or `squaredHinge`. */
  final val loss: Param[String] = ParamValues.choice(this, "loss", "loss that is minimised", losses.map(_._1))

  setDefault(loss -> losses.head._1)

  final def getLoss: String = $(loss)

  // As in Spark, the estimator itself defines the setters, so that in Java they return the estimator and can be
  // chained.
  def setLoss(value: String): this.type = set(loss, value)
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
  override def setRawPredictionCol(value: String): this.type = set(rawPredictionCol, value)

  override protected def train(dataset: Dataset[_]): LinearSVCModel = trainLinear(dataset)

  private[ml] override def task(dataset: Dataset[_]): LinearTask[LinearSVCModel] = new Task(dataset)

  override def copy(extra: ParamMap): LinearSVC = defaultCopy(extra)

  private def trainBySuperclass(dataset: Dataset[_]): LinearSVCModel = super.train(dataset)

  private final class Task(dataset: Dataset[_]) extends LinearTask[LinearSVCModel] {

    override val loss: MarginLoss = losses.toMap.apply(getLoss)

    override def penalty: Penalty = Penalty.of($(regParam))

    override def rows(fold: Option[String]): RDD[InternalRow] =
      TrainingBridge.rows(LinearSVC.this, dataset, numClasses = Some(2), fold)

    override def refused(numFeatures: Int): Option[String] =
      named.filter(_ != 2).map(counted).orElse(super.refused(numFeatures))

    override def refused(data: TrainingRows): Option[String] =
      Some(data.largestLabel.toInt + 1).filter(classes => classes > 2 || classes < 2 && named.isEmpty).map(counted)

    /** Any intercept of 1 or more leaves no loss. */
    override def known(data: TrainingRows): Option[(Array[Double], Array[Double])] =
      if (data.labelConstant && $(fitIntercept))
        Some((new Array[Double](data.vectorLength), Array(if (data.largestLabel > 0.0) 1.0 else -1.0)))
      else None

    /** The number of classes in the metadata of the label column. */
    private def named: Option[Int] = TrainingBridge.numClasses(dataset, $(labelCol))

    private def counted(classes: Int): String =
      s"the label column has $classes ${if (classes == 1) "class" else "classes"}"

    override def penaltyOn(data: TrainingRows): Penalty =
      penalty.copy(scaleFactor = if ($(standardization)) data.sampleFactor else 0.0)

    override def model(data: TrainingRows, solution: LinearSolution): LinearSVCModel =
      LinearSVCBridge.attachSummary(
        copyValues(LinearSVCBridge.model(uid, Vectors.dense(solution.coefficients).compressed, solution.intercept)),
        dataset,
        solution.facts.rounds.map(_.objective).toArray)

    override def trainBySpark(): LinearSVCModel = trainBySuperclass(dataset)

    override def missingInSpark: Option[String] =
      if (loss == Hinge) None else Some(s"its LinearSVC has no $loss loss")
  }
}

object LinearSVC extends DefaultParamsReadable[LinearSVC] {

  /** The values of the Param, the default first. */
  private val losses: Seq[(String, MarginLoss)] = Seq("hinge" -> Hinge, "squaredHinge" -> SquaredHinge)

  override def load(path: String): LinearSVC = super.load(path)
}
