package dwell.ml

import scala.util.Random

import org.apache.spark.ml.Model
import org.apache.spark.ml.classification.{LogisticRegression => SparkLogisticRegression}
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression}
import org.apache.spark.sql.DataFrame

import dwell.{CheckLong, Logged, SparkSuite}
import dwell.jni.NativeBridge
import dwell.ml.classification.LogisticRegression
import dwell.ml.regression.LinearRegression
import dwell.report.{FitReport, LinearFitReport}

/** Newton's method, which `auto` takes for few features: the same answers as Spark's, with a proof. */
class NewtonSuite extends SparkSuite {

  /** Relative, of coefficients: Spark's iterations at tol 1e-12 end about so far from the optimum. */
  private val Tolerance = 1e-6

  /** Correlated features with means far from 0 and of different scales; a label of classes, one of numbers, a weight. */
  private lazy val dense: DataFrame = frame(400, 7) { (random, x) =>
    (0 until 7).foreach { j =>
      x(j) = (x(j) + 0.5 * x(0)) * math.pow(3.0, j - 3) + 4.0 * (j % 3)
    }
    x(0) - 0.7 * x(2) + 0.05 * x(6) + 2.0 * random.nextGaussian()
  }

  private lazy val sparse: DataFrame = {
    val rows = frame(500, 40) { (random, x) =>
      x.indices.foreach(j => if (random.nextDouble() > 0.15) x(j) = 0.0 else x(j) = 1.0 + random.nextInt(3))
      x(0) - x(1) + 0.5 * x(2) - 0.2 + random.nextGaussian()
    }
    val compressed = org.apache.spark.sql.functions.udf((v: Vector) => v.toSparse: Vector)
    rows.withColumn("features", compressed(rows("features"))).cache()
  }

  private def frame(m: Int, p: Int)(score: (Random, Array[Double]) => Double): DataFrame = {
    val random = new Random(17)
    val rows = Seq.fill(m) {
      val x = Array.fill(p)(random.nextGaussian())
      val y = score(random, x)
      (if (y > 0.3) 1.0 else 0.0, 10.0 * y + 100.0, 0.5 + random.nextInt(3), Vectors.dense(x): Vector)
    }
    spark.createDataFrame(rows).toDF("class", "number", "w", "features").repartition(3).cache()
  }

  private def report(model: Model[_]): LinearFitReport = FitReport.of(model).asInstanceOf[LinearFitReport]

  private def assertClose(ours: Vector, spark: Vector, tolerance: Double, clue: String): Unit = {
    val scale = math.max(1e-12, spark.toArray.map(math.abs).max)
    val distance = ours.toArray.zip(spark.toArray).map { case (a, b) => math.abs(a - b) }.max
    assert(distance <= tolerance * scale, s"$clue: $ours, Spark's $spark")
  }

  private def linear[E <: SparkLinearRegression](e: E): E = {
    e.setLabelCol("number")
    e
  }

  test("LinearRegression with its defaults: Spark's coefficients, standard errors, t and p values, in one pass") {
    for {
      weighted <- Seq(false, true)
      intercept <- Seq(true, false)
      (name, data) <- Seq("dense" -> dense, "sparse" -> sparse)
    } {
      val clue = s"$name weighted $weighted intercept $intercept"
      val (ours, stock) = Both.linear(data) { e =>
        linear(e).setFitIntercept(intercept)
        if (weighted) e.setWeightCol("w")
      }
      assertClose(ours.coefficients, stock.coefficients, 1e-9, clue)
      assert(math.abs(ours.intercept - stock.intercept) <= 1e-9 * (1.0 + math.abs(stock.intercept)), clue)
      val (a, b) = (ours.summary, stock.summary)
      assertClose(Vectors.dense(a.coefficientStandardErrors), Vectors.dense(b.coefficientStandardErrors), 1e-9, clue)
      assertClose(Vectors.dense(a.tValues), Vectors.dense(b.tValues), 1e-8, clue)
      assertClose(Vectors.dense(a.pValues), Vectors.dense(b.pValues), 1e-8, clue)
      val told = report(ours)
      assert(told.algorithm == "newton" && told.converged && told.relativeGap <= 1e-6, clue)
      assert(told.rounds.last.round == 1 && told.rounds.map(_.localWork).sum == 1.0, clue)
      assert(
        "newton: about .* s of work, where Spark's own code takes".r.findFirstIn(told.toText).nonEmpty,
        told.toText)
    }
  }

  for ((name, data) <- Seq("dense" -> (() => dense), "sparse" -> (() => sparse)))
    test(s"LinearRegression, $name: every penalty, both of Spark's objectives") {
      val settings = for {
        solver <- Seq("normal", "l-bfgs")
        elasticNet <- Seq(0.0, 0.4, 1.0)
        standardization <- Seq(true, false)
        intercept <- Seq(true, false)
      } yield (solver, elasticNet, standardization, intercept)
      for ((solver, elasticNet, standardization, intercept) <- CheckLong.pairsWithin(settings)) {
        val clue = s"$name $solver $elasticNet standardization $standardization intercept $intercept"
        val (ours, stock) = Both.linear(data()) { e =>
          linear(e).setRegParam(0.3).setElasticNetParam(elasticNet).setStandardization(standardization)
          e.setFitIntercept(intercept)
            .setSolver(solver)
            .setMaxIter(if (intercept) 500 else 50)
            .setTol(1e-12)
            .setWeightCol("w")
        }
        assert(report(ours).algorithm == "newton" && report(ours).converged, clue)
        val objective = Objective(solver, data().withColumnRenamed("number", "label"), ours)
        assert(objective(ours) <= objective(stock) * (1.0 + 1e-12), clue)
        // Without an intercept the means correlate the features, and Spark's own iterations take very long.
        if (intercept || elasticNet == 0.0) assertClose(ours.coefficients, stock.coefficients, Tolerance, clue)
      }
    }

  for ((name, data) <- Seq("dense" -> (() => dense), "sparse" -> (() => sparse)))
    test(s"LogisticRegression, $name: Spark's coefficients for every penalty and none, within few passes") {
      val settings = for {
        penalty <- Seq((0.0, 0.0), (0.02, 0.0), (0.02, 0.5), (0.01, 1.0))
        standardization <- Seq(true, false)
        intercept <- Seq(true, false)
      } yield (penalty, standardization, intercept)
      for (((regParam, elasticNet), standardization, intercept) <- CheckLong.pairsWithin(settings)) {
        val clue = s"$name $regParam $elasticNet standardization $standardization intercept $intercept"
        val (ours, stock) = Both.logistic(data()) { e =>
          e.setLabelCol("class").setRegParam(regParam).setElasticNetParam(elasticNet)
          e.setStandardization(standardization)
            .setFitIntercept(intercept)
            .setMaxIter(if (intercept) 500 else 50)
            .setTol(1e-12)
            .setWeightCol("w")
        }
        assert(report(ours).algorithm == "newton" && report(ours).converged, clue)
        assert(report(ours).rounds.last.round <= 15, clue)
        assert(report(ours).objective <= stock.summary.objectiveHistory.last * (1.0 + 1e-12), clue)
        if (intercept) {
          assertClose(ours.coefficients, stock.coefficients, 10.0 * Tolerance, clue)
          assert(math.abs(ours.intercept - stock.intercept) <= 1e-5 * (1.0 + math.abs(stock.intercept)), clue)
        }
      }
    }

  test("the certificate is never below the true distance, and soon close to it") {
    for {
      data <- Seq(dense, sparse)
      (regParam, elasticNet) <- Seq((0.0, 0.0), (0.002, 0.5))
    } {
      val estimator =
        new LogisticRegression().setLabelCol("class").setRegParam(regParam).setElasticNetParam(elasticNet)
      val optimum = report(estimator.setTol(1e-14).fit(data)).objective
      val rounds = report(estimator.setTol(1e-12).fit(data)).rounds
      rounds.foreach { r =>
        assert(r.gap >= (r.objective - optimum) - 1e-14 * optimum, r.toLine)
      }
      assert(
        rounds.exists(r => r.gap > 1e-12 * optimum && r.gap <= 2.0 * (r.objective - optimum)),
        rounds.map(r => s"${r.round}: ${r.gap} of ${r.objective - optimum}").mkString("\n"))
    }
  }

  test("a grid of penalties reads and sums the rows once, and gives the models of single fits") {
    val grid = Array(0.0, 0.1, 1.0).flatMap(r => Array(0.0, 1.0).map(e => (r, e)))
    for (estimator <- Seq(
        linear(new LinearRegression()).setTol(1e-12),
        linear(new LinearRegression()).setTol(1e-12).setFitIntercept(false))) {
      val maps = grid.map { case (r, e) => ParamMap(estimator.regParam -> r, estimator.elasticNetParam -> e) }
      estimator.fit(dense, maps.toSeq).zip(maps).foreach { case (model, map) =>
        assertClose(model.coefficients, estimator.copy(map).fit(dense).coefficients, 1e-9, map.toString)
        assert(report(model).converged && report(model).rounds.last.round <= 2)
      }
      // As near to the optimum as 1e-12 the rounding of sums counts, and each model has a pass of its own.
      val usual = estimator.copy(ParamMap(estimator.tol -> 1e-6)).fit(dense, maps.toSeq)
      assert(usual.map(report(_).rounds.map(_.localWork).sum).sum == 1.0, "one pass tells the loss of every model")
    }
    val logistic = new LogisticRegression().setLabelCol("class").setTol(1e-12)
    val maps = Seq(0.5, 0.05, 0.0).map(r => ParamMap(logistic.regParam -> r))
    logistic.fit(dense, maps).zip(maps).foreach { case (model, map) =>
      assertClose(model.coefficients, logistic.copy(map).fit(dense).coefficients, 1e-6, map.toString)
    }
  }

  test("any partitions, any mode: the same model, and the rows stay where they are") {
    def fit(data: DataFrame, mode: String, workers: Int) =
      new LogisticRegression().setLabelCol("class").setAggregation(mode).setNumWorkers(workers).fit(data)
    val expected = fit(dense, "driver", 2)
    for (mode <- Seq("shuffle", "gang"))
      assert(fit(dense, mode, 2).coefficients == expected.coefficients, mode)
    val uneven = dense.filter(dense("w") > 1.0).coalesce(1).union(dense.filter(dense("w") <= 1.0).repartition(6))
    for {
      (data, workers) <- Seq((dense.coalesce(1), 2), (dense.repartition(9), 2), (uneven, 2), (dense, 5))
      mode <- Seq("driver", "shuffle", "gang")
      if !(mode == "gang" && workers > 2)
    } {
      val model = fit(data, mode, workers)
      assertClose(model.coefficients, expected.coefficients, 1e-10, s"$mode $workers")
      assert(report(model).placement.startsWith("where they were read"), mode)
    }
    assert(NativeBridge.stateEntries() == 0L)
  }

  test("constant, empty and collinear columns") {
    val more = org.apache.spark.sql.functions.udf { v: Vector =>
      Vectors.dense(v.toArray ++ Array(3.0, 0.0, v(1), 2.0 * v(0) - v(3))): Vector
    }
    val data = dense.withColumn("features", more(dense("features"))).cache()
    val line = linear(new LinearRegression())
    val (ours, plain) = (line.fit(data), line.fit(dense))
    assert(ours.coefficients(7) == 0.0 && ours.coefficients(8) == 0.0)
    assert(math.abs(report(ours).objective / report(plain).objective - 1.0) <= 1e-10 && report(ours).converged)
    // Of many best models Spark's iterations, which start at 0, find the one of least norm.
    val stock = linear(new SparkLinearRegression()).setSolver("l-bfgs").setTol(1e-12).setMaxIter(500).fit(data)
    assertClose(ours.coefficients, stock.coefficients, 1e-4, "collinear")
    intercept[UnsupportedOperationException](ours.summary.pValues)
    def logisticOf(data: DataFrame) =
      new SparkLogisticRegression().setLabelCol("class").setTol(1e-12).setMaxIter(500).fit(data)
    val logistic = new LogisticRegression().setLabelCol("class").setTol(1e-12)
    val (both, few) = (logistic.fit(data), logistic.fit(dense))
    assert(math.abs(report(both).objective / report(few).objective - 1.0) <= 1e-9 && report(both).converged)
    assertClose(both.coefficients, logisticOf(data).coefficients, 1e-2, "collinear, logistic")
  }

  test("classes that a plane separates: the fit ends, with a model that separates them") {
    val rows = Seq.tabulate(60)(i => (if (i >= 30) 1.0 else 0.0, Vectors.dense(i - 29.5, (i % 5).toDouble): Vector))
    val data = spark.createDataFrame(rows).toDF("label", "features").cache()
    val model = new LogisticRegression().fit(data)
    assert(report(model).algorithm == "newton" && report(model).objective <= 1e-6)
    assert(model.transform(data).filter("label != prediction").isEmpty)
  }

  test("a column that occurs in one class only: the fit ends about where Spark's does, and the log says why") {
    val random = new Random(11)
    val rows = Seq.tabulate(400) { i =>
      val x = random.nextGaussian()
      val y = if (x + random.nextGaussian() > 0.0) 1.0 else 0.0
      (y, Vectors.dense(x, if (y > 0.5 && i % 10 == 0) 1.0 else 0.0): Vector)
    }
    val data = spark.createDataFrame(rows).toDF("label", "features").cache()
    val (model, warnings) = Logged.warnings(new LogisticRegression().fit(data))
    assert(report(model).algorithm == "newton" && report(model).converged && report(model).rounds.last.round <= 30)
    val stock = new SparkLogisticRegression().setTol(1e-9).setMaxIter(500).fit(data)
    assert(report(model).objective <= stock.summary.objectiveHistory.last + 1e-7)
    assert(warnings.count(_.contains("regParam above 0")) == 1, warnings)
  }

  test("categories of which some have one class only: the fit ends where no double goes on, and tells its objective") {
    val random = new Random(12)
    val rows = Seq.tabulate(150) { i =>
      val category = i / 50
      val x = Array.tabulate(3)(j => math.rint(10.0 * (3.0 + category + 0.4 * random.nextGaussian())) / 10.0)
      val mixed = if (x(0) + 0.5 * random.nextGaussian() > 4.0) 1.0 else 0.0
      val y = if (category == 1) mixed else category / 2.0
      (y, Vectors.dense(x ++ Array.tabulate(3)(c => if (c == category) 1.0 else 0.0)): Vector)
    }
    val data = spark.createDataFrame(rows).toDF("label", "features").cache()
    val model = new LogisticRegression().fit(data)
    val told = report(model)
    val losses = rows.map { case (y, x) =>
      val z = x.toArray.zip(model.coefficients.toArray).map { case (x, w) => x * w }.sum + model.intercept
      math.log1p(math.exp(if (y > 0.5) -z else z))
    }
    val reached = losses.sum / losses.size
    assert(told.algorithm == "newton" && math.abs(told.objective - reached) <= 1e-9 * reached, told.toText)
    val stock = new SparkLogisticRegression().setTol(1e-9).setMaxIter(500).fit(data)
    assert(reached <= stock.summary.objectiveHistory.last + 1e-7, told.toText)
    assert(told.rounds.last.round <= 60 && told.rounds.forall(_.objective >= reached * (1.0 - 1e-9)), told.toText)
  }

  test("labels without errors: the fit ends, and finds them") {
    val exact = org.apache.spark.sql.functions.udf((v: Vector) => 2.0 * v(0) - v(1) + 3.0)
    val model = linear(new LinearRegression()).fit(dense.withColumn("number", exact(dense("features"))))
    assert(report(model).converged && report(model).rounds.last.round <= 3)
    assert(report(model).rounds.map(_.localWork).sum >= 2.0, "rounding of the sums hides the errors")
    assert(math.abs(model.coefficients(0) - 2.0) <= 1e-9 && math.abs(model.intercept - 3.0) <= 1e-7)
  }

  test("many dense features without a penalty: L-BFGS, because Newton's method is forecast to be slower") {
    val random = new Random(3)
    val rows =
      Seq.fill(200)((random.nextInt(2).toDouble, Vectors.dense(Array.fill(2000)(random.nextGaussian())): Vector))
    val model = new LogisticRegression().setMaxIter(2).fit(spark.createDataFrame(rows).toDF("label", "features"))
    val told = FitReport.of(model)
    assert(told.algorithm == "l-bfgs" && told.toText.contains("l-bfgs: regParam is 0"), told.toText)
  }

  test("a choice of the user stands") {
    val estimator = linear(new LinearRegression().setRegParam(0.1))
    assert(report(estimator.setAlgorithm("cocoa").fit(dense)).algorithm == "cocoa")
    assert(report(estimator.setAlgorithm("auto").setOrientation("dual").fit(dense)).algorithm == "cocoa")
    assert(report(linear(new LinearRegression().setAlgorithm("newton")).fit(dense)).algorithm == "newton")
    val wide = dense.withColumn(
      "features",
      org.apache.spark.sql.functions
        .udf((v: Vector) => Vectors.sparse(5000, Array(7), Array(v(0))))
        .apply(dense("features")))
    val tooWide = intercept[IllegalArgumentException](linear(new LinearRegression().setAlgorithm("newton")).fit(wide))
    assert(tooWide.getMessage.contains("at most 4096 coefficients") && tooWide.getMessage.contains("5000"))
    val hinge = new dwell.ml.classification.LinearSVC().setAlgorithm("newton").setLabelCol("class").setRegParam(0.0)
    assert(intercept[IllegalArgumentException](hinge.fit(dense)).getMessage.contains("hinge loss needs an L2 penalty"))
    assert(report(linear(new LinearRegression()).setSolver("l-bfgs").setMaxIter(0).fit(dense)).rounds.last.round == 0)
  }
}
