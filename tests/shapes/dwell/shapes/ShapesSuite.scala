package dwell.shapes

import org.apache.spark.ml.Model
import org.apache.spark.ml.classification.{LinearSVC => SparkLinearSVC, LinearSVCModel, LogisticRegression => SparkLogisticRegression, LogisticRegressionModel}
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression, LinearRegressionModel}
import org.apache.spark.sql.DataFrame

import dwell.{CheckLong, SparkSuite}
import dwell.ml.LocalObjective
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression
import dwell.report.{FitReport, SparkFitReport}

/**
 * Changing the import never makes a model worse, whatever the data: each estimator with default Params but for the penalty,
 * beside Spark's own. One function computes the objectives of both models on the data.
 */
class ShapesSuite extends SparkSuite {
  import ShapesSuite._

  private val frames = collection.mutable.Map.empty[Shape, DataFrame]

  private val stockModels = collection.mutable.Map.empty[(Shape, String, Penalty), Model[_]]

  private def data(shape: Shape): DataFrame =
    frames.getOrElseUpdate(shape, spark.createDataFrame(spark.sparkContext.parallelize(shape.rows, 2)).cache())

  private val cases = for {
    shape <- Shape.all()
    (estimator, penalties) <- Seq(
      "LinearRegression" -> Penalty.all,
      "LogisticRegression" -> Penalty.all,
      "LinearSVC" -> Penalty.all.filter(_.elasticNet == 0.0))
    penalty <- penalties
    workers <- Seq(0, 2)
  } yield Case(shape, estimator, penalty, workers)

  private val (unpenalised, others) = cases.partition(c => c.estimator == "LinearSVC" && c.penalty.regParam == 0.0)
  (unpenalised.take(1) ++ CheckLong.pairsOf(others)).foreach(compared)
  CheckLong.only(unpenalised.size - 1)(unpenalised.drop(1).foreach(compared))

  private def compared(c: Case): Unit =
    test(s"no worse than Spark: $c") {
      val stock = stockModels.getOrElseUpdate((c.shape, c.estimator, c.penalty), bySpark(c))
      val mine = byDwell(c)
      val objective = objectiveOf(c)
      val (atStock, atMine) = (objective(stock), objective(mine))
      val report = FitReport.of(mine)
      val excess = (atMine - atStock) / math.max(atStock, rounding(report))
      println(
        f"  shape | ${c.shape} | ${c.estimator} | ${c.penalty} | ${c.workers} | $excess%.1e | ${report.algorithm} ${report.orientation} | " +
          f"${report.rounds.size}%d | ${report.relativeGap}%.1e | ${if (report.converged) "converged" else "-"} |")
      assert(isFinite(mine) || !isFinite(stock), s"${linear(mine)}")
      assert(excess <= Tolerance, s"ours $atMine, Spark's $atStock\n${report.toText}")
      truthful(report, atMine, math.min(atMine, atStock))
    }

  private def bySpark(c: Case): Model[_] = c.estimator match {
    case "LinearRegression" => regression(new SparkLinearRegression(), c)
    case "LogisticRegression" => logistic(new SparkLogisticRegression(), c)
    // Its line searches fail by the hundred where it is near the optimum: minutes of a check.
    case "LinearSVC" => svc(new SparkLinearSVC().setMaxIter(if (CheckLong.everything) 100 else 20), c)
  }

  private def byDwell(c: Case): Model[_] = c.estimator match {
    case "LinearRegression" => regression(new LinearRegression().setNumWorkers(c.workers), c)
    case "LogisticRegression" => logistic(new LogisticRegression().setNumWorkers(c.workers), c)
    case "LinearSVC" => svc(new LinearSVC().setNumWorkers(c.workers), c)
  }

  /** What a report says of the model holds: its objective, and that no model is better by more than the gap. */
  private def truthful(report: FitReport, found: Double, best: Double): Unit = report match {
    case left: SparkFitReport => assert(left.reason.exists(_.nonEmpty))
    case _ =>
      val same = SameObjective * found + rounding(report)
      assert(math.abs(report.objective - found) <= same, s"in truth $found\n${report.toText}")
      assert(report.gap.isNaN || found - best <= report.gap + same, report.toText)
      assert(report.rounds.last.objective >= best - same, report.toText)
  }

  /** What rounding leaves of the objective of a model that meets all labels. */
  private def rounding(report: FitReport): Double =
    math.max(Double.MinPositiveValue, report.rounds.headOption.fold(0.0)(_.objective * Vanishing))

  private def regression(estimator: SparkLinearRegression, c: Case): Model[_] = {
    estimator
      .setLabelCol("target")
      .setRegParam(c.penalty.regParam)
      .setElasticNetParam(c.penalty.elasticNet)
      .setStandardization(c.shape.standardization)
    if (c.shape.weighted) estimator.setWeightCol("w")
    estimator.fit(data(c.shape))
  }

  private def logistic(estimator: SparkLogisticRegression, c: Case): Model[_] = {
    estimator
      .setLabelCol("cls")
      .setRegParam(c.penalty.regParam)
      .setElasticNetParam(c.penalty.elasticNet)
      .setStandardization(c.shape.standardization)
    if (c.shape.weighted) estimator.setWeightCol("w")
    estimator.fit(data(c.shape))
  }

  private def svc(estimator: SparkLinearSVC, c: Case): Model[_] = {
    estimator.setLabelCol("cls").setRegParam(c.penalty.regParam).setStandardization(c.shape.standardization)
    if (c.shape.weighted) estimator.setWeightCol("w")
    estimator.fit(data(c.shape))
  }

  private def objectiveOf(c: Case): Model[_] => Double = {
    val rows = c.shape.rows
    val (label, loss) = c.estimator match {
      case "LinearRegression" => (rows.map(_.target), LocalObjective.squared _)
      case "LogisticRegression" => (rows.map(_.cls), cross _)
      case "LinearSVC" => (rows.map(_.cls), hinge _)
    }
    val objective =
      new LocalObjective(
        rows.map(_.features.toArray),
        label,
        rows.map(row => if (c.shape.weighted) row.w else 1.0),
        loss)
    // Spark's `normal` solver, its own choice for so few features, takes deviations in the population.
    val population = c.estimator == "LinearRegression"
    val l2 = c.penalty.regParam * (1.0 - c.penalty.elasticNet)
    val divisor = if (population) objective.labelDeviation(population) else 1.0
    (model: Model[_]) => {
      val (coefficients, intercept) = linear(model)
      objective(
        coefficients,
        intercept,
        c.penalty.regParam * c.penalty.elasticNet,
        if (l2 == 0.0) 0.0 else l2 / divisor,
        c.shape.standardization,
        population)
    }
  }

  /** Spark's own intercept is infinite where all labels are of one class. */
  private def isFinite(model: Model[_]): Boolean = {
    val (coefficients, intercept) = linear(model)
    (coefficients :+ intercept).forall(x => !x.isNaN && !x.isInfinite)
  }

  private def linear(model: Model[_]): (Array[Double], Double) = model match {
    case m: LinearRegressionModel => (m.coefficients.toArray, m.intercept)
    case m: LogisticRegressionModel => (m.coefficients.toArray, m.intercept)
    case m: LinearSVCModel => (m.coefficients.toArray, m.intercept)
  }
}

private object ShapesSuite {

  /** Relative: by so much the objective may exceed Spark's. Both stop at their default `tol`, 1e-6. */
  private val Tolerance = 1e-6

  /** Relative: two ways to add up the objective of one model. */
  private val SameObjective = 1e-9

  /** Relative to the objective without coefficients. */
  private val Vanishing = 1e-15

  /** @param workers the Param numWorkers */
  private final case class Case(shape: Shape, estimator: String, penalty: Penalty, workers: Int) {
    override def toString: String = s"$shape, $estimator, $penalty, $workers workers"
  }

  private final case class Penalty(name: String, regParam: Double, elasticNet: Double) {
    override def toString: String = name
  }

  private object Penalty {
    val all: Seq[Penalty] = Seq(
      Penalty("default Params", 0.0, 0.0),
      Penalty("L2 0.01", 0.01, 0.0),
      Penalty("L2 1e-4", 1e-4, 0.0),
      Penalty("L1", 0.01, 1.0),
      Penalty("elastic net", 0.01, 0.5))
  }

  private def cross(y: Double, z: Double): Double = {
    val m = if (y > 0.5) z else -z
    if (m > 0.0) math.log1p(math.exp(-m)) else math.log1p(math.exp(m)) - m
  }
  private def hinge(y: Double, z: Double): Double = math.max(0.0, 1.0 - (if (y > 0.5) z else -z))
}
