package dwell.ml

import scala.util.Random

import org.apache.spark.ml.attribute.NominalAttribute
import org.apache.spark.ml.classification.{LogisticRegression => SparkLogisticRegression, LogisticRegressionModel}
import org.apache.spark.ml.linalg.{Matrices, Matrix, Vector, Vectors}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.udf

import dwell.{CheckLong, SparkSuite}
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.report.{FitReport, LinearFitReport}

/** Newton's method for several classes, for bounds, and for the squared hinge. */
class NewtonClassesSuite extends SparkSuite {

  /** Relative to the largest coefficient: Spark's iterations at tol 1e-12 end about so far from the optimum. */
  private val Tolerance = 1e-5

  /** Four classes, one of them rare, with features of different scales and means; a label of two classes; a weight. */
  private lazy val dense: DataFrame = {
    val random = new Random(5)
    val rows = Seq.fill(600) {
      val x = Array.tabulate(5)(j => (random.nextGaussian() + 2.0 * (j % 2)) * math.pow(3.0, j - 2))
      val scores = Seq(0.0, 2.0 * x(2) - 1.0, x(1) - x(2), 0.3 * x(3) - 3.0).map(_ + 2.0 * random.nextGaussian())
      val y = scores.indices.maxBy(scores)
      (y.toDouble, if (y > 1) 1.0 else 0.0, 0.5 + random.nextInt(3), Vectors.dense(x): Vector)
    }
    spark.createDataFrame(rows).toDF("label", "class", "w", "features").repartition(3).cache()
  }

  /** The same with a column that is 0 in most rows, as sparse rows. */
  private lazy val sparse: DataFrame = {
    val thinned = udf { v: Vector =>
      Vectors
        .dense(v.toArray.map(x => if (math.abs(x) < 1.0) 0.0 else x) ++ Array(if (v(0) > 0.2) 1.0 else 0.0))
        .toSparse: Vector
    }
    dense.withColumn("features", thinned(dense("features"))).cache()
  }

  private def report(model: org.apache.spark.ml.Model[_]): LinearFitReport =
    FitReport.of(model).asInstanceOf[LinearFitReport]

  private def assertClose(ours: Array[Double], spark: Array[Double], tolerance: Double, clue: String): Unit = {
    val scale = math.max(1e-12, spark.map(math.abs).max)
    val distance = ours.zip(spark).map { case (a, b) => math.abs(a - b) }.max
    assert(distance <= tolerance * scale, s"$clue: ${ours.toSeq}, Spark's ${spark.toSeq}")
  }

  private def assertClose(ours: LogisticRegressionModel, spark: LogisticRegressionModel, clue: String): Unit = {
    assertClose(ours.coefficientMatrix.toArray, spark.coefficientMatrix.toArray, Tolerance, clue)
    assertClose(ours.interceptVector.toArray, spark.interceptVector.toArray, 10.0 * Tolerance, clue)
  }

  for ((name, data) <- Seq("dense" -> (() => dense), "sparse" -> (() => sparse)))
    test(s"several classes, $name: Spark's coefficients for every penalty and none, within few passes") {
      val settings = for {
        penalty <- Seq((0.0, 0.0), (0.02, 0.0), (0.02, 0.5), (0.01, 1.0))
        standardization <- Seq(true, false)
        intercept <- Seq(true, false)
      } yield (penalty, standardization, intercept)
      for (((regParam, elasticNet), standardization, intercept) <- CheckLong.pairsWithin(settings)) {
        val clue = s"$name $regParam $elasticNet standardization $standardization intercept $intercept"
        // Spark's own iterations take very long with L1, and where features with means far from 0 are not centred.
        val smooth = intercept && elasticNet == 0.0
        val (ours, stock) = Both.logistic(data()) { e =>
          e.setRegParam(regParam).setElasticNetParam(elasticNet).setStandardization(standardization)
          e.setFitIntercept(intercept).setMaxIter(if (smooth) 150 else 10).setTol(1e-12).setWeightCol("w")
        }
        val told = report(ours)
        assert(told.algorithm == "newton" && told.converged, s"$clue\n${told.toText}")
        assert(told.rounds.last.round <= 15, s"$clue\n${told.toText}")
        assert(told.objective <= stock.summary.objectiveHistory.last * (1.0 + 1e-12), clue)
        assert(told.gap <= 1e-9 * told.objective, clue)
        if (smooth) assertClose(ours, stock, clue)
        assert(ours.numClasses == 4 && ours.hasSummary && ours.summary.accuracy > 0.4)
      }
    }

  test("two classes with family multinomial: Spark's model") {
    for (regParam <- Seq(0.0, 0.05)) {
      val (ours, stock) = Both.logistic(dense) { e =>
        e.setFamily("multinomial").setLabelCol("class").setRegParam(regParam).setTol(1e-12).setMaxIter(300)
      }
      assert(report(ours).algorithm == "newton" && report(ours).converged)
      assertClose(ours, stock, s"regParam $regParam")
    }
  }

  test("the certificate of several classes is never below the true distance, and soon close to it") {
    for ((regParam, elasticNet) <- Seq((0.0, 0.0), (0.01, 0.0), (0.005, 0.5))) {
      val estimator = new LogisticRegression().setRegParam(regParam).setElasticNetParam(elasticNet)
      val optimum = report(estimator.setTol(1e-14).fit(dense)).objective
      val rounds = report(estimator.setTol(1e-12).fit(dense)).rounds
      rounds.foreach(r => assert(r.gap >= (r.objective - optimum) - 1e-14 * optimum, r.toLine))
      assert(
        rounds.exists(r => r.gap > 1e-12 * optimum && r.gap <= 2.0 * (r.objective - optimum)),
        rounds.map(r => s"${r.round}: ${r.gap} of ${r.objective - optimum}").mkString("\n"))
    }
  }

  test("too many coefficients for the classes: L-BFGS, and an exception where newton is asked for") {
    val wide = udf((v: Vector) => Vectors.sparse(2000, Array(3, 1999), Array(v(0), v(2))): Vector)
    val data = dense.withColumn("features", wide(dense("features")))
    val told = FitReport.of(new LogisticRegression().setMaxIter(2).fit(data))
    assert(told.algorithm == "l-bfgs" && told.toText.contains("l-bfgs: there are 4 classes"), told.toText)
    val asked =
      intercept[IllegalArgumentException](new LogisticRegression().setAlgorithm("newton").setMaxIter(2).fit(data))
    assert(asked.getMessage.contains("2000 features in 4 classes"))
  }

  test("family binomial where the metadata names three classes: Spark's words") {
    val three = NominalAttribute.defaultAttr.withName("class").withValues("a", "b", "c").toMetadata()
    val data = dense.withColumn("class", dense("class").as("class", three))
    val e =
      intercept[IllegalArgumentException](new LogisticRegression().setLabelCol("class").setFamily("binomial").fit(data))
    assert(e.getMessage.contains("Binomial family"))
  }

  test("metadata that name fewer classes than there are: Spark's words") {
    val two = NominalAttribute.defaultAttr.withName("label").withValues("a", "b").toMetadata()
    val data = dense.withColumn("label", dense("label").as("label", two))
    for (family <- Seq("auto", "multinomial")) {
      val e = intercept[IllegalArgumentException](new LogisticRegression().setFamily(family).fit(data))
      assert(e.getMessage.contains("less than the number of unique labels"), family)
    }
  }

  private def matrix(rows: Int)(x: (Int, Int) => Double): Matrix =
    Matrices.dense(rows, 5, Array.tabulate(rows * 5)(i => x(i % rows, i / rows)))

  test("bounds: Spark's model, and every bound is kept") {
    for {
      regParam <- Seq(0.0, 0.02)
      standardization <- Seq(true, false)
      ofIntercept <- Seq(false, true)
    } {
      val clue = s"$regParam standardization $standardization bounded intercept $ofIntercept"
      val (least, most) =
        (matrix(1)((_, j) => Seq(-0.05, 0.0, -1.0, 0.01, -9.0)(j)), matrix(1)((_, j) => 0.01 * (j + 1)))
      val (ours, stock) = Both.logistic(dense) { e =>
        e.setLabelCol("class").setRegParam(regParam).setStandardization(standardization)
        e.setLowerBoundsOnCoefficients(least).setUpperBoundsOnCoefficients(most).setWeightCol("w")
        if (ofIntercept) e.setUpperBoundsOnIntercepts(Vectors.dense(-0.5))
        e.setMaxIter(500).setTol(1e-12)
      }
      assert(report(ours).algorithm == "newton" && report(ours).converged, s"$clue\n${report(ours).toText}")
      val coefficients = ours.coefficients.toArray
      for (j <- coefficients.indices) assert(coefficients(j) >= least(0, j) && coefficients(j) <= most(0, j), clue)
      assert(!ofIntercept || ours.intercept <= -0.5)
      assert(report(ours).objective <= stock.summary.objectiveHistory.last * (1.0 + 1e-10), clue)
      assertClose(coefficients, stock.coefficients.toArray, 1e-3, clue)
    }
  }

  test("bounds of several classes: Spark's objective, and every bound is kept") {
    for { regParam <- Seq(0.0, 0.02); ofIntercepts <- Seq(true, false) } {
      val (least, most) = (matrix(4)((c, j) => if (c == j) 0.0 else -2.0), matrix(4)((_, _) => 1.0))
      val (ours, stock) = Both.logistic(dense) { e =>
        e.setRegParam(regParam).setLowerBoundsOnCoefficients(least).setUpperBoundsOnCoefficients(most)
        if (ofIntercepts) e.setLowerBoundsOnIntercepts(Vectors.dense(0.0, -1.0, -1.0, -2.0))
        e.setMaxIter(500).setTol(1e-12)
      }
      assert(report(ours).algorithm == "newton" && report(ours).converged, report(ours).toText)
      assert(report(ours).objective <= stock.summary.objectiveHistory.last * (1.0 + 1e-10))
      for { c <- 0 until 4; j <- 0 until 5 } {
        val x = ours.coefficientMatrix(c, j)
        assert(x >= least(c, j) && x <= most(c, j))
      }
      if (ofIntercepts) assert(ours.interceptVector(0) >= 0.0)
      else {
        assert(math.abs(ours.interceptVector.toArray.sum) <= 1e-12)
        // Spark's are wherever its iterations end: a number may be added to all of them.
        val sparks = stock.interceptVector.toArray
        assertClose(ours.interceptVector.toArray, sparks.map(_ - sparks.sum / 4.0), 1e-3, s"$regParam")
      }
    }
  }

  test("bounds that do not suit the model: Spark's words") {
    val estimator = new LogisticRegression().setLabelCol("class")
    def refused(e: LogisticRegression): String = intercept[IllegalArgumentException](e.fit(dense)).getMessage
    assert(
      refused(
        estimator
          .copy(org.apache.spark.ml.param.ParamMap.empty)
          .setLowerBoundsOnCoefficients(Matrices.dense(1, 2, Array(0.0, 0.0))))
        .contains("LowerBoundsOnCoefficients"))
    assert(
      refused(estimator.setLowerBoundsOnCoefficients(matrix(1)((_, _) => 0.0)).setRegParam(0.1).setElasticNetParam(0.5))
        .contains("L2"))
  }

  test("the squared hinge: the model of coordinate descent, certified, in few passes") {
    for {
      data <- Seq(dense, sparse)
      regParam <- Seq(1e-4, 0.1)
      standardization <- Seq(true, false)
      intercept <- Seq(true, false)
    } {
      val clue = s"$regParam standardization $standardization intercept $intercept"
      def estimator(algorithm: String) = new LinearSVC()
        .setLoss("squaredHinge")
        .setLabelCol("class")
        .setWeightCol("w")
        .setRegParam(regParam)
        .setStandardization(standardization)
        .setFitIntercept(intercept)
        .setAlgorithm(algorithm)
      val newton = estimator("auto").setTol(1e-12).fit(data)
      assert(report(newton).algorithm == "newton" && report(newton).converged, s"$clue\n${report(newton).toText}")
      assert(report(newton).rounds.last.round <= 20, s"$clue\n${report(newton).toText}")
      val descent = report(estimator("cocoa").setTol(1e-6).setMaxIter(300).fit(data))
      // Both bounds hold for both.
      assert(
        report(newton).objective <= descent.objective * (1.0 + 1e-12) && report(newton).objective >= descent.dual,
        clue)
      report(newton).rounds.foreach { r =>
        assert(r.gap >= r.objective - report(newton).objective - 1e-13 * r.objective, s"$clue ${r.toLine}")
      }
    }
  }

  test("more than a hundred features: the model of Spark, with a certificate") {
    val random = new Random(23)
    val truth = Array.fill(140)(random.nextGaussian() / 4.0)
    val rows = Seq.fill(14000) {
      val x = Array.fill(140)(random.nextGaussian() + 1.0)
      val score = x.zip(truth).map { case (a, b) => a * b }.sum + random.nextGaussian()
      ((if (score > 0.0) 1.0 else 0.0), 1.0 + random.nextInt(2), Vectors.dense(x): Vector)
    }
    val data = spark.createDataFrame(rows).toDF("label", "w", "features").repartition(3).cache()
    for ((regParam, elasticNet) <- Seq((0.0, 0.0), (0.01, 0.5))) {
      def set[E <: SparkLogisticRegression](e: E): E = {
        e.setRegParam(regParam).setElasticNetParam(elasticNet).setWeightCol("w").setTol(1e-12).setMaxIter(100)
        e
      }
      val ours = set(new LogisticRegression().setAlgorithm("newton")).fit(data)
      assert(report(ours).converged && report(ours).rounds.last.round <= 20, report(ours).toText)
      assert(report(ours).gap <= 1e-12 * report(ours).objective)
      assertClose(
        ours.coefficients.toArray,
        set(new SparkLogisticRegression()).fit(data.coalesce(1)).coefficients.toArray,
        1e-4,
        "")
    }
  }
}
