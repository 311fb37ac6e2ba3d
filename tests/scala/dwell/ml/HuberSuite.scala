package dwell.ml

import scala.util.Random

import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression, LinearRegressionModel}
import org.apache.spark.sql.DataFrame

import dwell.{CheckLong, Logged, SparkSuite}
import dwell.ml.regression.LinearRegression
import dwell.report.{FitReport, LinearFitReport}

/** The loss of Huber with its scale, by Newton's method. */
class HuberSuite extends SparkSuite {

  /** Relative; Spark's iterations at tol 1e-12 end about so far from the optimum. */
  private val Tolerance = 1e-4

  /** Means far from 0, features of different scales, one error in ten without bounds. */
  private lazy val dense: DataFrame = frame { (random, x) =>
    x.indices.foreach(j => x(j) = x(j) * math.pow(4.0, j - 2) + 5.0 * (j % 2))
  }

  private lazy val sparse: DataFrame =
    frame((random, x) => x.indices.foreach(j => if (random.nextDouble() > 0.3) x(j) = 0.0))

  private def frame(change: (Random, Array[Double]) => Unit): DataFrame = {
    val random = new Random(29)
    val rows = Seq.fill(600) {
      val x = Array.fill(6)(random.nextGaussian())
      change(random, x)
      val error = if (random.nextInt(10) == 0) 20.0 / (0.01 + random.nextDouble()) else random.nextGaussian()
      val features = if (x.count(_ == 0.0) > 2) Vectors.dense(x).toSparse else Vectors.dense(x)
      (50.0 + x(0) - 2.0 * x(1) + 0.1 * x(5) + error, 0.5 + random.nextInt(3), features: Vector)
    }
    spark.createDataFrame(rows).toDF("label", "w", "features").repartition(3).cache()
  }

  private def report(model: LinearRegressionModel): LinearFitReport =
    FitReport.of(model).asInstanceOf[LinearFitReport]

  /** The objective by its definition; `penalty` is the mean of the L2 terms. */
  private def objective(data: DataFrame, epsilon: Double, model: LinearRegressionModel)(
      penalty: Vector => Double): Double = {
    val rows = data.collect()
    val sigma = model.scale
    val losses = rows.map { row =>
      val r = math.abs(row.getDouble(0) - model.predict(row.getAs[Vector](2)))
      val loss =
        if (r <= epsilon * sigma) sigma + r * r / sigma else sigma + 2.0 * epsilon * r - epsilon * epsilon * sigma
      row.getDouble(1) * 0.5 * loss
    }
    losses.sum / rows.map(_.getDouble(1)).sum + penalty(model.coefficients)
  }

  private def inDeviations(data: DataFrame, coefficients: Vector): Vector = {
    val rows = data.collect().map(_.getAs[Vector](2).toArray)
    Vectors.dense(coefficients.toArray.zipWithIndex.map { case (c, j) =>
      val mean = rows.map(_(j)).sum / rows.length
      c * math.sqrt(rows.map(x => math.pow(x(j) - mean, 2.0)).sum / rows.length)
    })
  }

  private def relative(a: Double, b: Double): Double = math.abs(a - b) / math.abs(b)

  for ((kind, regParam) <- Seq(("dense", 0.0), ("dense", 0.1), ("sparse", 0.0), ("sparse", 0.1)))
    test(s"Spark's model and scale, with a proof, $kind, regParam $regParam") {
      val data = if (kind == "dense") dense else sparse
      val settings = for {
        name <- Seq("dense", "sparse")
        penalty <- Seq(0.0, 0.1)
        standardization <- Seq(true, false)
        intercept <- Seq(true, false)
        epsilon <- Seq(1.35, 1.1, 4.0)
      } yield (name, penalty, (standardization, intercept), epsilon)
      for ((name, penalty, (standardization, intercept), epsilon) <- CheckLong.pairsWithin(settings)
        if name == kind && penalty == regParam) {
        val clue = s"$name $regParam standardization $standardization intercept $intercept epsilon $epsilon"
        val (ours, stock) = Both.linear(data) { e =>
          e.setLoss("huber").setEpsilon(epsilon).setRegParam(regParam).setStandardization(standardization)
          e.setFitIntercept(intercept).setWeightCol("w").setTol(1e-12).setMaxIter(500)
        }
        val told = report(ours)
        assert(told.algorithm == "newton" && told.converged && told.relativeGap <= 1e-12, s"$clue\n${told.toText}")
        assert(told.rounds.last.round <= 20, s"$clue\n${told.toText}")
        if (regParam == 0.0) {
          val found = objective(data, epsilon, ours)(_ => 0.0)
          assert(relative(told.objective, found) <= 1e-10, clue)
          assert(found <= objective(data, epsilon, stock)(_ => 0.0) * (1.0 + 1e-12), clue)
        }
        assert(relative(ours.summary.objectiveHistory.last, stock.summary.objectiveHistory.last) <= 1e-7, clue)
        val (a, b) = (inDeviations(data, ours.coefficients), inDeviations(data, stock.coefficients))
        val distance = math.sqrt(Vectors.sqdist(a, b))
        assert(distance <= Tolerance * Vectors.norm(b, 2.0), s"$clue: $a, Spark's $b")
        assert(relative(ours.scale, stock.scale) <= Tolerance, s"$clue: ${ours.scale}, Spark's ${stock.scale}")
        assert(math.abs(ours.intercept - stock.intercept) <= Tolerance * (1.0 + math.abs(stock.intercept)), clue)
      }
    }

  test("every gap is at least the distance to the optimum") {
    for (regParam <- Seq(0.0, 0.1); data <- Seq(dense, sparse)) {
      val estimator = new LinearRegression().setLoss("huber").setRegParam(regParam).setWeightCol("w").setTol(1e-14)
      val told = report(estimator.fit(data))
      told.rounds.foreach { r =>
        assert(r.gap >= r.objective - told.objective - 1e-14 * told.objective, s"$regParam ${r.toLine}")
      }
      assert(told.rounds.count(r => !r.gap.isInfinite && !r.gap.isNaN) >= 3)
    }
  }

  test("where all errors are within epsilon scales: least squares, and the root of their mean square") {
    val ours = new LinearRegression().setLoss("huber").setEpsilon(1e4).setWeightCol("w").setTol(1e-12).fit(dense)
    val squares = new LinearRegression().setWeightCol("w").fit(dense)
    assert(math.sqrt(Vectors.sqdist(ours.coefficients, squares.coefficients)) <= 1e-9)
    assert(relative(ours.intercept, squares.intercept) <= 1e-9)
    assert(relative(ours.scale, squares.summary.rootMeanSquaredError) <= 1e-9)
  }

  test("labels that a plane meets: the plane, and no warning of classes") {
    val exact = dense.withColumn(
      "label",
      org.apache.spark.sql.functions.udf((x: Vector) => 3.0 + x(0) - x(1)).apply(dense("features")))
    val (model, warnings) = Logged.warnings(new LinearRegression().setLoss("huber").fit(exact))
    assert(model.scale > 0.0 && model.scale <= 1e-4)
    assert(math.abs(model.coefficients(0) - 1.0) <= 1e-4 && math.abs(model.intercept - 3.0) <= 1e-3)
    assert(report(model).converged, report(model).toText)
    assert(warnings.forall(!_.contains("separate")))
  }

  for (regParam <- Seq(0.0, 0.1))
    test(
      s"an optimum where few rows or none are within epsilon scales: no worse than Spark's model, regParam $regParam") {
      val random = new Random(31)
      val rows = Seq.fill(40) {
        val x = Array.fill(8)(random.nextGaussian())
        val error = if (random.nextInt(8) == 0) 30.0 * random.nextGaussian() else 0.1 * random.nextGaussian()
        (x(0) - x(3) + error, 1.0, Vectors.dense(x): Vector)
      }
      val few = spark.createDataFrame(rows).toDF("label", "w", "features").cache()
      for (epsilon <- Seq(1.001, 1.05, 1.35)) {
        val (model, stock) = Both.linear(few) { e =>
          e.setLoss("huber").setEpsilon(epsilon).setRegParam(regParam)
        }
        val told = report(model)
        assert(told.solver == "native", told.toText)
        val (ours, theirs) = (model.summary.objectiveHistory.last, stock.summary.objectiveHistory.last)
        assert(ours <= theirs * (1.0 + 1e-7), s"$regParam $epsilon: Spark's $theirs\n${told.toText}")
      }
    }

  for (label <- Seq("count", "event"))
    test(s"${label}s of which most are 0: no worse than Spark's model, after more iterations than maxIter") {
      val random = new Random(37)
      val rows = Seq.fill(660) {
        val x = Array.tabulate(15) { j =>
          if (j % 2 == 0) random.nextInt(2 + j).toDouble else random.nextGaussian() * math.pow(2.0, j - 7)
        }
        val event = if (random.nextDouble() < 0.08 + 0.07 * x(0)) 1.0 else 0.0
        val isZero = random.nextDouble() < 0.66 + 0.24 * x(0)
        val count = if (isZero) 0.0 else 1.0 + math.floor(-4.0 * math.log(random.nextDouble()))
        (count, event, Vectors.dense(x): Vector)
      }
      val zeros = rows.count(row => (if (label == "count") row._1 else row._2) == 0.0)
      assert(zeros > 0.7 * rows.size && zeros < 0.95 * rows.size)
      val data = spark.createDataFrame(rows).toDF("count", "event", "features").coalesce(1).cache()
      val model = new LinearRegression().setLoss("huber").setLabelCol(label).fit(data)
      val stock = new SparkLinearRegression().setLoss("huber").setLabelCol(label).fit(data)
      val (ours, other) = (model.summary.objectiveHistory.last, stock.summary.objectiveHistory.last)
      assert(ours <= other * (1.0 + 1e-7), s"Spark's $other\n${report(model).toText}")
    }

  test("a grid of penalties, and data that Spark refuses or trains") {
    val estimator = new LinearRegression().setLoss("huber").setTol(1e-10)
    val maps = Seq(0.0, 0.01, 1.0).map(r => org.apache.spark.ml.param.ParamMap(estimator.regParam -> r))
    val norms = estimator.fit(dense, maps).map { model =>
      assert(report(model).converged)
      Vectors.norm(model.coefficients, 2.0)
    }
    assert(norms == norms.sorted.reverse)
    val l1 = intercept[IllegalArgumentException](estimator.setRegParam(0.1).setElasticNetParam(0.5).fit(dense))
    assert(l1.getMessage.contains("L2 regularization"))
  }
}
