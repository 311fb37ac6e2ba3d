package dwell.ml.parity

import org.apache.spark.ml.classification.{LogisticRegression => SparkLogisticRegression, LogisticRegressionModel}
import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.sql.DataFrame

import dwell.{CheckLong, SparkSuite}
import dwell.ml.{ClassificationData, LocalRows, ReferenceSolver}
import dwell.ml.classification.LogisticRegression
import dwell.problem.Logistic
import dwell.report.FitReport

/** The same answers as Spark's l-bfgs and owl-qn, for every combination of the Params that change the objective. */
class LogisticRegressionParitySuite extends SparkSuite {

  /**
   * Relative, of the vector of coefficients if the problem is strongly convex. By its gap of 1e-11, Dwell's is at
   * most about 1e-6 from the optimum; Spark's at tol 1e-14 is about as close.
   */
  private val CoefficientTolerance = 1e-5

  /** Relative, of the objective: both sides reach this at a tight tolerance. */
  private val ObjectiveTolerance = 1e-9

  /** A combination of Params. */
  private case class Setting(
      data: String,
      positive: Double,
      elasticNet: Double,
      intercept: Boolean,
      standardization: Boolean,
      weighted: Boolean) {
    val regParam = 0.02
  }

  private val frames = collection.mutable.Map.empty[(String, Double), DataFrame]

  private def data(s: Setting): DataFrame =
    frames.getOrElseUpdate(
      (s.data, s.positive),
      if (s.data == "dense") ClassificationData.dense(spark, s.positive)
      else ClassificationData.sparse(spark, s.positive))

  private def configure[E <: SparkLogisticRegression](estimator: E, s: Setting): E = {
    estimator
      .setRegParam(s.regParam)
      .setElasticNetParam(s.elasticNet)
      .setFitIntercept(s.intercept)
      .setStandardization(s.standardization)
      .setMaxIter(2000)
      .setTol(1e-14)
    if (s.weighted) estimator.setWeightCol("w")
    estimator
  }

  private def fit(s: Setting, orientation: String): LogisticRegressionModel =
    // Dense features that share a mean and a factor couple all workers, which makes adding slow: so one worker.
    configure(new LogisticRegression(), s)
      .setOrientation(orientation)
      .setNumWorkers(if (s.data == "dense") 1 else 2)
      .setLocalWork(if (s.data == "dense") 200 else 20)
      .setTol(1e-11)
      .fit(data(s))

  private val settings = for {
    (data, positive) <- Seq(("dense", 0.5), ("dense", 0.1), ("sparse", 0.5), ("sparse", 0.1))
    elasticNet <- Seq(0.0, 0.4, 1.0)
    (intercept, standardization, weighted) <-
      Seq((true, true, false), (true, false, true), (false, true, true), (false, false, false))
  } yield Setting(data, positive, elasticNet, intercept, standardization, weighted)

  CheckLong.pairsOf(settings).foreach { s =>
    test(s"same model as Spark: $s") {
      val stock = configure(new SparkLogisticRegression(), s).fit(data(s).coalesce(1))
      val rows = new LocalRows(data(s), s.weighted)
      val reference = new ReferenceSolver(rows.features, rows.signs, rows.weights, Logistic, s.intercept)
      val scaleFactor = if (s.standardization) rows.sampleFactor else 0.0
      val (l1, l2) = (s.regParam * s.elasticNet, s.regParam * (1.0 - s.elasticNet))
      def objective(a: Array[Double], b: Double): Double = reference.objective(a, b, l1, l2, scaleFactor)
      val (a, b) = reference.solve(l1, l2, scaleFactor)
      val best = objective(a, b)
      val atStock = objective(stock.coefficients.toArray, stock.intercept)
      for (orientation <- Seq("primal", "dual") if orientation == "primal" || s.elasticNet < 1.0) {
        val mine = fit(s, orientation)
        val report = FitReport.of(mine)
        assert(report.solver == "native" && report.converged, report.toText)
        val f = objective(mine.coefficients.toArray, mine.intercept)
        assert(f <= atStock * (1.0 + ObjectiveTolerance), s"$orientation: ours $f, Spark's $atStock")
        assert(f <= best * (1.0 + ObjectiveTolerance), s"$orientation: ours $f, reference $best")
        // The objective of the report is F itself, and its certificate holds against the optimum.
        assert(math.abs(report.objective - f) <= 1e-9 * f)
        assert(f - best <= report.gap + 1e-9 * f)
        report.rounds.foreach(r => assert(r.objective - best <= r.gap + 1e-9 * f, s"$orientation: ${r.toLine}"))
        assert(math.abs(mine.summary.objectiveHistory.last - stock.summary.objectiveHistory.last) <= 1e-7 * f)
        if (s.elasticNet < 1.0) {
          assert(distance(mine.coefficients.toArray, a) <= CoefficientTolerance)
          assert(distance(mine.coefficients.toArray, stock.coefficients.toArray) <= CoefficientTolerance)
          assert(math.abs(mine.intercept - stock.intercept) <= CoefficientTolerance * (1.0 + math.abs(stock.intercept)))
        }
      }
    }
  }

  private def distance(a: Array[Double], b: Array[Double]): Double =
    math.sqrt(Vectors.sqdist(Vectors.dense(a), Vectors.dense(b))) / math.max(Vectors.norm(Vectors.dense(b), 2.0), 1e-12)

  test("both orientations give the same model, and dual is refused where there is no L2 penalty") {
    val s = Setting("sparse", 0.5, 0.5, intercept = true, standardization = true, weighted = true)
    val models = Seq("primal", "dual", "auto").map(fit(s, _))
    models.tail.foreach { m =>
      assert(distance(m.coefficients.toArray, models.head.coefficients.toArray) <= CoefficientTolerance)
    }
    val e = intercept[IllegalArgumentException](fit(s.copy(elasticNet = 1.0), "dual"))
    assert(e.getMessage.contains("elasticNetParam is 1") && e.getMessage.contains("orientation primal or auto"))
  }

  test("weight 2 is two rows, weight 0 is none, and the labels' names do not matter") {
    import org.apache.spark.sql.functions.{array, col, explode, lit, when}
    def model(frame: DataFrame): LogisticRegressionModel =
      new LogisticRegression()
        .setRegParam(0.1)
        .setStandardization(false)
        .setWeightCol("w")
        .setLocalWork(20)
        .setTol(1e-12)
        .fit(frame)
    val base = ClassificationData.sparse(spark, 0.5)
    val doubled = base.withColumn("w", when(col("w") > 1.0, 2.0).otherwise(1.0))
    val copies = doubled
      .withColumn("copy", explode(when(col("w") === 2.0, array(lit(1), lit(2))).otherwise(array(lit(1)))))
      .withColumn("w", lit(1.0))
      .drop("copy")
    val expected = model(doubled)
    val extra = doubled.union(base.limit(20).withColumn("label", lit(1.0)).withColumn("w", lit(0.0)))
    val negated = doubled.withColumn("label", lit(1.0) - col("label"))
    val models = Seq(model(copies), model(extra))
    models.foreach(m => assert(distance(m.coefficients.toArray, expected.coefficients.toArray) <= CoefficientTolerance))
    val opposite = model(negated).coefficients.toArray.map(-_)
    assert(distance(opposite, expected.coefficients.toArray) <= CoefficientTolerance)
  }
}
