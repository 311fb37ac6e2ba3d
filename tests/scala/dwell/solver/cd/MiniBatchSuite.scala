package dwell.solver.cd

import org.apache.spark.ml.param.ParamMap
import org.apache.spark.sql.DataFrame

import dwell.SparkSuite
import dwell.ml.ClassificationData
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression
import dwell.report.FitReport

/** Mini-batch SCD and SGD, with which benchmarks compare CoCoA: the same objective and honest bounds. */
class MiniBatchSuite extends SparkSuite {

  private lazy val data: DataFrame = ClassificationData.sparse(spark, positive = 0.5, rows = 400)

  /** As many as there are slots: a round of a gang takes a tenth of the time. RoundLoopSuite has three. */
  private val Workers = 2

  private def ridge(algorithm: String, elasticNet: Double = 0.0, orientation: String = "auto"): FitReport =
    FitReport.of(
      new LinearRegression()
        .setAlgorithm(algorithm)
        .setOrientation(orientation)
        .setNumWorkers(Workers)
        .setRegParam(0.1)
        .setElasticNetParam(elasticNet)
        .setMaxIter(400)
        .setTol(1e-4)
        .fit(data))

  private def logistic(
      algorithm: String,
      orientation: String = "auto",
      localWork: String = "auto",
      maxIter: Int = 400): FitReport =
    FitReport.of(
      new LogisticRegression()
        .setAlgorithm(algorithm)
        .setOrientation(orientation)
        .setLocalWork(localWork)
        .setNumWorkers(Workers)
        .setRegParam(0.05)
        .setWeightCol("w")
        .setMaxIter(maxIter)
        .setTol(1e-4)
        .fit(data))

  private def svc(algorithm: String): FitReport =
    FitReport.of(
      new LinearSVC()
        .setAlgorithm(algorithm)
        .setNumWorkers(Workers)
        .setRegParam(0.05)
        .setMaxIter(400)
        .setTol(1e-2)
        .fit(data))

  /** Checks that both are within their own bounds of the same optimum. */
  private def sameOptimum(a: FitReport, b: FitReport): Unit = {
    assert(a.algorithm != b.algorithm && a.solver == "native" && b.solver == "native")
    assert(a.dual <= b.objective * (1.0 + 1e-9) && b.dual <= a.objective * (1.0 + 1e-9), s"${a.toText}\n${b.toText}")
  }

  for (orientation <- Seq("primal", "dual"); elasticNet <- Seq(0.0, 0.5)) {
    test(s"mini-batch SCD solves least squares, $orientation, elasticNetParam $elasticNet") {
      val batch = ridge("mini-batch-scd", elasticNet, orientation)
      assert(batch.converged, batch.toText)
      sameOptimum(batch, ridge("cocoa", elasticNet, orientation))
    }
  }

  for (orientation <- Seq("primal", "dual")) test(s"mini-batch SCD solves logistic regression, $orientation") {
    val batch = logistic("mini-batch-scd", orientation)
    assert(batch.converged, batch.toText)
    sameOptimum(batch, logistic("cocoa", orientation))
  }

  test("mini-batch SCD closes on the hinge from both sides") {
    val batch = svc("mini-batch-scd")
    sameOptimum(batch, svc("cocoa"))
    assert(batch.gap < 0.1 * batch.objective, batch.toText)
  }

  test("mini-batch SGD by whole epochs has a certificate, and closes it where the loss is smooth") {
    for (batch <- Seq(ridge("mini-batch-sgd"), logistic("mini-batch-sgd"))) {
      assert(batch.gap >= 0.0 && batch.gap < 0.01 * batch.objective, batch.toText)
      assert(batch.orientation.isEmpty && batch.rounds.drop(1).forall(_.localWork == 1.0))
    }
    sameOptimum(logistic("mini-batch-sgd"), logistic("cocoa"))
  }

  test("mini-batch SGD by parts of an epoch comes near the optimum, and is certified at the end") {
    val best = logistic("cocoa")
    val batch = logistic("mini-batch-sgd", localWork = "0.25")
    sameOptimum(batch, best)
    assert(batch.objective < best.objective + 0.05 * (batch.rounds.head.objective - best.objective), batch.toText)
    assert(batch.gap < 0.5 * batch.objective, batch.toText)
  }

  test("mini-batch SGD needs no L2 penalty, and then has no bound but 0") {
    val lasso = ridge("mini-batch-sgd", elasticNet = 1.0)
    assert(lasso.dual == 0.0 && !lasso.converged)
    assert(lasso.objective < 1.01 * ridge("cocoa", elasticNet = 1.0).objective, lasso.toText)
  }

  test("fits of a grid by mini-batch SGD start anew: there are no variables to start from") {
    val estimator = new LinearRegression()
      .setAlgorithm("mini-batch-sgd")
      .setNumWorkers(2)
      .setElasticNetParam(1.0)
      .setSolver("l-bfgs")
      .setMaxIter(20)
    val grid = Seq(0.2, 0.1).map(r => ParamMap(estimator.regParam -> r))
    val together = estimator.fit(data, grid)
    val alone = grid.map(map => estimator.fit(data, map))
    together.zip(alone).foreach { case (a, b) =>
      assert(a.coefficients == b.coefficients && a.intercept == b.intercept)
    }
    assert(together.last.coefficients.numNonzeros > 0)
  }

  test("local progress is worth rounds: CoCoA takes fewer than either mini-batch algorithm") {
    val Seq(cocoa, scd, sgd) = Seq("cocoa", "mini-batch-scd", "mini-batch-sgd").map(logistic(_, "dual").rounds.size)
    assert(cocoa < scd && cocoa < sgd, s"$cocoa, $scd, $sgd")
  }

  test("batches of rows have no primal orientation") {
    val error = intercept[IllegalArgumentException](logistic("mini-batch-sgd", "primal"))
    assert(error.getMessage.contains("orientation dual or auto"))
  }

  test("repeated to the bit") {
    for (algorithm <- Seq("mini-batch-scd", "mini-batch-sgd")) {
      val Seq(a, b) = Seq.fill(2)(logistic(algorithm, localWork = "0.5", maxIter = 30))
      assert(a.rounds.map(r => (r.objective, r.gap)) == b.rounds.map(r => (r.objective, r.gap)))
    }
  }
}
