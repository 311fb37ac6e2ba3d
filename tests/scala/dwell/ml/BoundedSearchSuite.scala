package dwell.ml

import scala.util.Random

import org.apache.spark.ml.linalg.{Matrices, Matrix, Vector, Vectors}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.udf

import dwell.SparkSuite
import dwell.ml.regression.LinearRegression
import dwell.report.FitReport

/** Bounds, and the loss of Huber, by L-BFGS-B: more coefficients than Newton's method takes, or where it is asked for. */
class BoundedSearchSuite extends SparkSuite {

  private val features = 4200

  /** 400 rows with ten of 4,200 features each, the label of a regression, and classes from 0 to 2. */
  private lazy val wide: DataFrame = {
    val random = new Random(41)
    val rows = Seq.fill(400) {
      val at = Seq.fill(10)((features * math.pow(random.nextDouble(), 3.0)).toInt).distinct.sorted
      val x = Vectors.sparse(features, at.map(j => (j, 1.0 + random.nextInt(3))))
      val score = at.filter(_ < 40).map(j => if (j % 2 == 0) 1.0 else -1.0).sum + random.nextGaussian()
      val error = if (random.nextInt(10) == 0) 30.0 * random.nextGaussian() else 0.0
      (
        4.0 + score + error,
        if (score > 0.3) 1.0 else 0.0,
        if (score > 1.0) 2.0 else if (score > -0.5) 1.0 else 0.0,
        x: Vector)
    }
    spark.createDataFrame(rows).toDF("label", "class", "three", "features").repartition(3).cache()
  }

  private lazy val narrow: DataFrame = {
    val folded = udf { v: Vector =>
      val x = new Array[Double](6)
      v.foreachActive((j, value) => x(j % 6) += value)
      Vectors.dense(x): Vector
    }
    wide.withColumn("features", folded(wide("features"))).cache()
  }

  /** Both make as many iterations, and are far from their ends where features are rare. */
  private def assertNoWorse(ours: Double, stock: Double, clue: String): Unit =
    assert(ours <= stock * (1.0 + 1e-7), s"$clue: $ours, Spark's $stock")

  test("the huber loss with many features: Spark's iterations, wherever the errors are") {
    // Labels of rank 400 in 4,200 features: errors can fall to nothing.
    val exact = wide.withColumn(
      "label",
      udf { (v: Vector) =>
        var sum = 1e4
        v.foreachActive((j, x) => sum += 100.0 * x * math.sin(j.toDouble))
        sum
      }.apply(wide("features")))
    for {
      (data, standardization, intercept, maxIter, regParam) <- Seq(
        (wide, true, true, 30, 0.0),
        (wide, false, true, 10, 0.5),
        (exact, true, true, 30, 0.01),
        (exact, false, true, 20, 0.5),
        (exact, true, false, 10, 0.0))
    } {
      val clue = s"exact ${data eq exact}, standardization $standardization, intercept $intercept"
      val (ours, stock) = Both.linear(data) { e =>
        e.setLoss("huber").setRegParam(regParam).setStandardization(standardization).setFitIntercept(intercept)
        e.setMaxIter(maxIter)
      }
      val told = FitReport.of(ours)
      assert(told.solver == "native" && told.algorithm == "l-bfgs" && told.gap.isNaN, told.toText)
      val history = stock.summary.objectiveHistory
      val found = told.rounds.map(_.objective)
      // After many more iterations the paths part by rounding, as Spark's own does with partitions in another order.
      val alike = history.zip(found).take(6).map { case (stock, x) => math.abs(x / stock - 1.0) }.max
      assert(alike <= 1e-9, clue)
      assertNoWorse(found.last, history.last, clue)
      // Features that occur in no row have a penalty in Spark's search, and none in the model's objective.
      val penalised = standardization && regParam > 0.0
      assert(if (penalised) told.objective < found.last else told.objective == found.last, clue)
      assert(ours.scale > 0.0 && ours.hasSummary)
      assert(intercept == (ours.intercept != 0.0))
    }
  }

  test("the huber loss by l-bfgs, where it is asked for, has the optimum of Newton's method") {
    for (regParam <- Seq(0.0, 0.1); intercept <- Seq(true, false)) {
      def fit(algorithm: String) =
        new LinearRegression()
          .setAlgorithm(algorithm)
          .setLoss("huber")
          .setRegParam(regParam)
          .setFitIntercept(intercept)
          .setTol(1e-13)
          .setMaxIter(300)
          .fit(narrow)
      val (search, newton) = (fit("l-bfgs"), fit("newton"))
      assert(FitReport.of(search).algorithm == "l-bfgs" && FitReport.of(newton).algorithm == "newton")
      assert(math.abs(FitReport.of(search).objective / FitReport.of(newton).objective - 1.0) <= 1e-9)
      assert(math.sqrt(Vectors.sqdist(search.coefficients, newton.coefficients)) <= 1e-4)
      assert(math.abs(search.scale - newton.scale) <= 1e-4 * newton.scale)
    }
  }

  private def filled(rows: Int)(x: Int => Double): Matrix =
    Matrices.dense(rows, features, Array.tabulate(rows * features)(i => x(i / rows)))

  test("bounds of many coefficients: every bound is kept, and the objective is Spark's") {
    for {
      label <- Seq("class", "three")
      (ofIntercept, standardization) <- Seq((false, true), (true, false))
    } {
      val outputs = if (label == "class") 1 else 3
      val clue = s"$label, bounded intercepts $ofIntercept, standardization $standardization"
      val (ours, stock) = Both.logistic(wide) { e =>
        e.setLabelCol(label).setRegParam(0.1).setStandardization(standardization).setMaxIter(30)
        e.setLowerBoundsOnCoefficients(filled(outputs)(j => if (j % 3 == 0) 0.0 else -0.3))
        e.setUpperBoundsOnCoefficients(filled(outputs)(j => if (j % 3 == 1) 0.2 else 1.0))
        if (ofIntercept) e.setUpperBoundsOnIntercepts(Vectors.dense(Array.fill(outputs)(-0.1)))
      }
      val told = FitReport.of(ours)
      assert(told.solver == "native" && told.algorithm == "l-bfgs" && told.toText.contains("bounds"), told.toText)
      ours.coefficientMatrix.foreachActive { (_, j, x) =>
        assert(x >= (if (j % 3 == 0) 0.0 else -0.3) - 1e-12 && x <= (if (j % 3 == 1) 0.2 else 1.0) + 1e-12, clue)
      }
      assert(!ofIntercept || ours.interceptVector.toArray.forall(_ <= -0.1), clue)
      assertNoWorse(told.objective, stock.summary.objectiveHistory.last, clue)
    }
  }

  test("labels of one class with bounds, with and without intercept: no worse than Spark's model") {
    val ones = narrow.withColumn("class", narrow("class") * 0.0 + 1.0)
    for (ofIntercept <- Seq(true, false)) {
      val (ours, stock) = Both.logistic(ones) { e =>
        e.setLabelCol("class").setRegParam(0.1).setFitIntercept(ofIntercept)
        e.setUpperBoundsOnCoefficients(Matrices.dense(1, 6, Array.fill(6)(0.05)))
        if (ofIntercept) e.setUpperBoundsOnIntercepts(Vectors.dense(1.5))
      }
      assert(FitReport.of(ours).solver == "native" && ours.coefficients.toArray.forall(_ <= 0.05))
      assert(!ofIntercept || math.abs(ours.intercept - 1.5) <= 1e-9)
      assertNoWorse(FitReport.of(ours).objective, stock.summary.objectiveHistory.last, s"intercept $ofIntercept")
    }
  }
}
