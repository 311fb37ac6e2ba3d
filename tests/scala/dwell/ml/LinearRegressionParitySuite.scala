package dwell.ml

import scala.util.Random

import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression, LinearRegressionModel}
import org.apache.spark.sql.DataFrame

import dwell.{CheckLong, SparkSuite}
import dwell.ml.regression.LinearRegression
import dwell.report.FitReport

/** The same answers as Spark's own two solvers, for every combination of the Params that change the objective. */
class LinearRegressionParitySuite extends SparkSuite {

  /** Relative, of the vector of coefficients: Spark's l-bfgs at tol 1e-14 stands about 1e-8 from the optimum. */
  private val RidgeTolerance = 1e-6

  /** Relative, of the objective: both sides reach this at a tight tolerance on a problem without a unique support. */
  private val ObjectiveTolerance = 1e-8

  /** Correlated features with means far from zero, of very different scales, one constant and one all zero. */
  private lazy val dense: DataFrame = {
    val random = new Random(11)
    val rows = Seq.fill(150) {
      val common = random.nextGaussian()
      val x = Array.tabulate(8)(i => (common + random.nextGaussian()) * math.pow(4.0, i - 3) + 5.0 * (i % 3))
      val y = x(0) * 3.0 - x(2) + 0.01 * x(7) + 4.0 + random.nextGaussian()
      (y, 0.25 + random.nextInt(4).toDouble, Vectors.dense(x ++ Array(2.5, 0.0)))
    }
    frame(rows).coalesce(1).cache()
  }

  /** Sparse counts with a power law, some rows empty. */
  private lazy val sparse: DataFrame = {
    val random = new Random(5)
    val features = 60
    val rows = Seq.fill(300) {
      val entries = Seq.fill(random.nextInt(9))((features * math.pow(random.nextDouble(), 2.5)).toInt).distinct.sorted
      val x = Vectors.sparse(features, entries.map(i => (i, 1.0 + random.nextInt(3))))
      (entries.filter(_ < 10).map(_ - 4.0).sum + random.nextGaussian() + 2.0, 1.0, x)
    }
    frame(rows)
  }

  private def frame(rows: Seq[(Double, Double, Vector)]): DataFrame =
    spark.createDataFrame(rows).toDF("label", "w", "features").repartition(3).cache()

  /** A combination of Params. */
  private case class Setting(
      data: String,
      solver: String,
      regParam: Double,
      elasticNet: Double,
      intercept: Boolean,
      standardization: Boolean,
      weighted: Boolean)

  private def configure[E <: SparkLinearRegression](estimator: E, s: Setting): E = {
    estimator
      .setSolver(s.solver)
      .setRegParam(s.regParam)
      .setElasticNetParam(s.elasticNet)
      .setFitIntercept(s.intercept)
      .setStandardization(s.standardization)
      .setMaxIter(500)
      .setTol(1e-14)
    if (s.weighted) estimator.setWeightCol("w")
    estimator
  }

  private def ours(s: Setting): LinearRegressionModel =
    // Dense features that share a mean and a factor couple all workers, which makes adding slow: so one worker.
    configure(new LinearRegression(), s)
      .setNumWorkers(if (s.data == "dense") 1 else 2)
      .setLocalWork(if (s.data == "dense") 1000 else 20)
      .setTol(1e-12)
      .setMaxIter(300)
      .fit(data(s))

  private def theirs(s: Setting): LinearRegressionModel =
    configure(new SparkLinearRegression(), s).fit(data(s).coalesce(1))

  private def data(s: Setting): DataFrame = if (s.data == "dense") dense else sparse

  private val settings = for {
    data <- Seq("dense", "sparse")
    solver <- Seq("normal", "l-bfgs")
    elasticNet <- Seq(0.0, 0.4, 1.0)
    (intercept, standardization, weighted) <- Seq((true, true, false), (false, true, true), (true, false, true))
  } yield Setting(data, solver, 0.3, elasticNet, intercept, standardization, weighted)

  CheckLong.pairsOf(settings).foreach { s =>
    test(s"same model as Spark: $s") {
      val mine = ours(s)
      val stock = theirs(s)
      val report = FitReport.of(mine)
      assert(report.solver == "native")
      val objective = Objective(s.solver, data(s), mine)
      if (s.elasticNet == 0.0) {
        assert(distance(mine, stock) <= RidgeTolerance)
        assert(math.abs(mine.intercept - stock.intercept) <= RidgeTolerance * (1.0 + math.abs(stock.intercept)))
      }
      val (f, g) = (objective(mine), objective(stock))
      assert(f <= g * (1.0 + ObjectiveTolerance), s"ours $f, Spark's $g")
      // The objective of the report is F itself, and its certificate holds against Spark's optimum, too.
      assert(math.abs(report.objective - f) <= 1e-9 * f)
      assert(f - g <= report.gap + 1e-9 * f)
      assert(report.rounds.map(_.objective).sliding(2).forall(p => p(1) <= p(0) * (1.0 + 1e-9)))
      if (s.solver == "l-bfgs") {
        val last = stock.summary.objectiveHistory.last
        assert(math.abs(mine.summary.objectiveHistory.last - last) <= 1e-7 * last)
      }
    }
  }

  private def distance(a: LinearRegressionModel, b: LinearRegressionModel): Double =
    math.sqrt(Vectors.sqdist(a.coefficients, b.coefficients)) / Vectors.norm(b.coefficients, 2.0)

  test("golden: the two deviations of Spark's two solvers on the four rows of algorithms 10.6") {
    val rows = Seq((17.0, 0.0, 5.0), (19.0, 1.0, 7.0), (23.0, 2.0, 11.0), (29.0, 3.0, 13.0))
    val data = frame(rows.map { case (y, a, b) => (y, 1.0, Vectors.dense(a, b)) })
    val expected = Map(
      "normal" -> ((13.1018869772, 2.2362360627, 0.6159732143)),
      "l-bfgs" -> ((13.3104931369, 2.3641049212, 0.5714832757)))
    expected.foreach { case (solver, (b, w1, w2)) =>
      val model = new LinearRegression()
        .setSolver(solver)
        .setRegParam(0.1)
        .setStandardization(false)
        .setLocalWork(100)
        .setTol(1e-15)
        .setMaxIter(100)
        .fit(data)
      assert(math.abs(model.intercept - b) < 1e-8, solver)
      assert(math.abs(model.coefficients(0) - w1) < 1e-8, solver)
      assert(math.abs(model.coefficients(1) - w2) < 1e-8, solver)
    }
  }

  test("shifting the label shifts the intercept only; scaling the weights changes nothing; weight 2 is two rows") {
    def fit(data: DataFrame): LinearRegressionModel =
      new LinearRegression().setRegParam(0.2).setWeightCol("w").setLocalWork(30).setTol(1e-13).fit(data)
    import org.apache.spark.sql.functions.{array, col, explode, lit, when}
    val base = fit(dense)
    val shifted = fit(dense.withColumn("label", col("label") + 100.0))
    assert(distance(shifted, base) < 1e-9)
    assert(math.abs(shifted.intercept - base.intercept - 100.0) < 1e-7)
    // The deviations of l-bfgs depend on the scale of the weights; those of the population do not.
    val scaled = fit(dense.withColumn("w", col("w") * 8.0))
    assert(distance(scaled, base) < 1e-9)
    val doubled = dense.withColumn("w", when(col("w") > 2.0, 2.0).otherwise(1.0))
    val copies = doubled
      .withColumn("copy", explode(when(col("w") === 2.0, array(lit(1), lit(2))).otherwise(array(lit(1)))))
      .withColumn("w", lit(1.0))
    assert(distance(fit(copies), fit(doubled)) < 1e-9)
    val extra = dense.union(dense.limit(20).withColumn("label", col("label") * -3.0).withColumn("w", lit(0.0)))
    assert(distance(fit(extra), base) < 1e-9)
  }
}
