package dwell.ml.classification

import java.util.Locale

import org.apache.spark.ml.TrainingBridge
import org.apache.spark.ml.classification.{LogisticRegression => SparkLogisticRegression, LogisticRegressionBridge, LogisticRegressionModel}
import org.apache.spark.ml.linalg.{Matrix, Vector}
import org.apache.spark.ml.param.{Param, ParamMap}
import org.apache.spark.ml.util.{DefaultParamsReadable, Identifiable}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.Dataset
import org.apache.spark.sql.catalyst.InternalRow

import dwell.data.TrainingRows
import dwell.ml.training.{LinearTask, LinearTraining}
import dwell.problem.{Logistic, MarginLoss, Penalty}
import dwell.solver.linear.{LinearSolution, ModelBounds}

/**
 * Spark's `LogisticRegression`, trained by Newton's method, L-BFGS or model averaging with native sums for any number of classes. CoCoA trains
 * two classes where features are more than 12 times the rows, or where it is asked for.
 *
 * Params, setters and defaults are inherited, and `fit` returns Spark's own `LogisticRegressionModel` with its training
 * summary. The objective is Spark's,
 *
 * {{{
 *   1/S sum_j s_j log(1 + exp(-y_j (b + x_j^T a))) + regParam [ elasticNetParam sum_i u_i |a_i|
 *                                                             + (1 - elasticNetParam) / 2 sum_i u_i^2 a_i^2 ]
 * }}}
 *
 * with y_j in {-1, 1}, and u_i the sample deviation of feature i (1 if `standardization` is off).
 *
 * `tol` bounds the relative suboptimality of the result: training stops once the duality gap is at most `tol` times the
 * objective. `maxIter` bounds the number of rounds. [[dwell.report.FitReport]] holds the certificate.
 *
 * With more than 4096 coefficients a fit has no certificate without a penalty, or with bounds. Where the native library cannot load,
 * Spark's own code, the superclass, trains after one WARN, or `fit` throws if `spark.dwell.fallback` is `error`.
 *
 * With `family` multinomial the coefficients are centred over the classes, as Spark returns them.
 */
class LogisticRegression(override val uid: String)
    extends SparkLogisticRegression(uid)
    with LinearTraining[LogisticRegressionModel] {
  import LogisticRegression._

  def this() = this(Identifiable.randomUID("logreg"))

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
  override def setRawPredictionCol(value: String): this.type = set(rawPredictionCol, value)
  override def setProbabilityCol(value: String): this.type = set(probabilityCol, value)

  /** A copy of Spark's private field. */
  private var initialModel: Option[LogisticRegressionModel] = None

  override def setInitialModel(model: LogisticRegressionModel): this.type = {
    initialModel = Some(model)
    super.setInitialModel(model)
  }

  // Spark's method is protected[spark], and outside Spark only a public method can override it.
  override def train(dataset: Dataset[_]): LogisticRegressionModel = trainLinear(dataset)

  private[ml] override def task(dataset: Dataset[_]): LinearTask[LogisticRegressionModel] = new Task(dataset)

  /** Unlike Spark's, a copy keeps the initial model: `fit` with Param maps trains copies. */
  override def copy(extra: ParamMap): LogisticRegression = {
    val copied = defaultCopy[LogisticRegression](extra)
    initialModel.foreach(copied.setInitialModel)
    copied
  }

  private def trainBySuperclass(dataset: Dataset[_]): LogisticRegressionModel = super.train(dataset)

  private final class Task(dataset: Dataset[_]) extends LinearTask[LogisticRegressionModel] {

    override def loss: MarginLoss = Logistic

    override def penalty: Penalty = Penalty.of($(regParam), $(elasticNetParam))

    override def rows(fold: Option[String]): RDD[InternalRow] =
      TrainingBridge.rows(LogisticRegression.this, dataset, fold = fold)

    override def refused(data: TrainingRows): Option[String] = {
      val found = numClasses(data)
      tooFewNamed(data)
        .orElse(if (binomial(found) && found > 2) Some(s"there are $found classes, and family is binomial") else None)
        .orElse(
          if (isDefined(thresholds) && $(thresholds).length != found)
            Some(s"thresholds has ${$(thresholds).length} values, and there are $found classes")
          else None)
        .orElse(if (isBounded && !boundsAreValid(data)) Some("the bounds do not suit the model") else None)
    }

    /** No coefficients tell classes apart of which there is one. The best intercept is infinite. */
    override def known(data: TrainingRows): Option[(Array[Double], Array[Double])] = {
      val classes = numClasses(data)
      val outputs = if (binomial(classes)) 1 else classes
      val isAlone = outputs == 1 && !binomial(classes)
      if (!isBounded && data.labelConstant && ($(fitIntercept) || isAlone)) Some {
        val own = data.largestLabel.toInt
        val intercepts =
          if (! $(fitIntercept)) Array(0.0)
          else if (!binomial(classes)) Array.tabulate(outputs)(c => if (c == own) Double.PositiveInfinity else 0.0)
          else Array(if (own == 1) Double.PositiveInfinity else Double.NegativeInfinity)
        (new Array[Double](data.vectorLength * outputs), intercepts)
      }
      else None
    }

    override def isBounded: Boolean =
      Seq(lowerBoundsOnCoefficients, upperBoundsOnCoefficients, lowerBoundsOnIntercepts, upperBoundsOnIntercepts)
        .exists(isSet(_))

    /** Spark's own code says what is wrong with bounds that are not. */
    private def boundsAreValid(data: TrainingRows): Boolean = {
      val outputs = classes(data).getOrElse(1)
      val shapes = Seq(lowerBoundsOnCoefficients, upperBoundsOnCoefficients)
        .flatMap(get(_))
        .forall(m => m.numRows == outputs && m.numCols == data.vectorLength)
      val lengths = Seq(lowerBoundsOnIntercepts, upperBoundsOnIntercepts).flatMap(get(_)).map(_.size)
      classes(data).forall(_ > 1) && shapes && lengths.forall(_ == outputs) && (lengths.isEmpty || $(
        fitIntercept)) && penalty.l1 == 0.0 &&
      bounds(data).forall(_.areOrdered)
    }

    override def bounds(data: TrainingRows): Option[ModelBounds] = if (isBounded) Some {
      val outputs = classes(data).getOrElse(1)
      def ofCoefficients(bounds: Param[Matrix], none: Double) =
        Array.tabulate(data.vectorLength * outputs)(i => get(bounds).fold(none)(_(i % outputs, i / outputs)))
      def ofIntercepts(bounds: Param[Vector], none: Double) = Array.tabulate(outputs)(c => get(bounds).fold(none)(_(c)))
      ModelBounds(
        ofCoefficients(lowerBoundsOnCoefficients, Double.NegativeInfinity),
        ofCoefficients(upperBoundsOnCoefficients, Double.PositiveInfinity),
        ofIntercepts(lowerBoundsOnIntercepts, Double.NegativeInfinity),
        ofIntercepts(upperBoundsOnIntercepts, Double.PositiveInfinity))
    }
    else None

    /** Spark refuses metadata that name fewer classes than there are. */
    private def tooFewNamed(data: TrainingRows): Option[String] =
      TrainingBridge.numClasses(dataset, $(labelCol)).filter(_ <= data.largestLabel).map { named =>
        s"the metadata of the label column names $named classes, and the largest label is ${data.largestLabel}"
      }

    /** As in Spark: the classes that the metadata names, and at least those up to the largest label. */
    private def numClasses(data: TrainingRows): Int =
      TrainingBridge.numClasses(dataset, $(labelCol)).getOrElse(0).max(data.largestLabel.toInt + 1)

    /** Whether the model has one vector of coefficients, given the number of classes. */
    private def binomial(classes: Int): Boolean = $(family).toLowerCase(Locale.ROOT) match {
      case Binomial => true
      case Multinomial => false
      case _ => classes <= 2
    }

    override def classes(data: TrainingRows): Option[Int] = Some(numClasses(data)).filterNot(binomial)

    override def penaltyOn(data: TrainingRows): Penalty =
      penalty.copy(scaleFactor = if ($(standardization)) data.sampleFactor else 0.0)

    /** As in Spark, an initial model of another shape is ignored. */
    override def initial(data: TrainingRows): Option[(Array[Double], Array[Double])] =
      initialModel.flatMap { model =>
        val matrix = model.coefficientMatrix
        val rows = classes(data).getOrElse(1)
        val fits =
          matrix.numRows == rows && matrix.numCols == data.vectorLength && model.getFitIntercept == $(fitIntercept)
        // toArray goes column by column, in whatever order the matrix stores its values.
        if (fits) Some((matrix.toArray, model.interceptVector.toArray))
        else {
          logWarning(
            s"$uid: the initial model is ignored: it has ${matrix.numRows} x ${matrix.numCols} coefficients and " +
              s"fitIntercept=${model.getFitIntercept}, not $rows x ${data.vectorLength} and fitIntercept=${$(fitIntercept)}.")
          None
        }
      }

    override def model(data: TrainingRows, solution: LinearSolution): LogisticRegressionModel =
      LogisticRegressionBridge.attachSummary(
        copyValues(
          LogisticRegressionBridge.model(
            uid,
            solution.coefficients,
            solution.intercepts,
            numClasses(data),
            isMultinomial = classes(data).nonEmpty)),
        dataset,
        solution.facts.rounds.map(_.objective).toArray)

    override def trainBySpark(): LogisticRegressionModel = trainBySuperclass(dataset)
  }
}

object LogisticRegression extends DefaultParamsReadable[LogisticRegression] {

  private val Binomial = "binomial"
  private val Multinomial = "multinomial"

  override def load(path: String): LogisticRegression = super.load(path)
}
