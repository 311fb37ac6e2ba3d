package dwell.ml

import scala.util.Random

import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.sql.DataFrame

import dwell.SparkSuite
import dwell.ml.regression.LinearRegression
import dwell.report.FitReport

/** The squared loss on rows with many more features than there are rows: a trial of the dual orientation. */
class WideRowsSuite extends SparkSuite {
  private val (rows, features, entries) = (400, 6000, 30)

  /** @param alike how many rows in a row have the same features, with labels of their own */
  private def data(alike: Int): DataFrame = {
    val made = (0 until rows).map { k =>
      val random = new Random(k / alike)
      val ids = Array.fill(entries)(random.nextInt(features)).distinct.sorted
      val x = Vectors.sparse(features, ids, ids.map(_ => random.nextGaussian())): Vector
      (ids.map(id => new Random(id).nextGaussian()).sum + new Random(-k).nextGaussian(), x)
    }
    spark.createDataFrame(made).toDF("label", "features").repartition(2).cache()
  }

  private def report(frame: DataFrame, set: LinearRegression => LinearRegression = identity): FitReport =
    FitReport.of(set(new LinearRegression().setRegParam(1e-3)).fit(frame))

  test("rows that hardly share features are trained in the dual orientation, in few rounds") {
    val frame = data(alike = 1)
    val tried = report(frame)
    assert(tried.algorithm == "cocoa" && tried.orientation == "dual" && tried.converged, tried.toText)
    assert(tried.orientationReason.contains(s"$features features for $rows rows"))
    assert(tried.rounds.size - 1 <= 12, tried.toText)
    val other = report(frame, _.setAlgorithm("l-bfgs").setTol(1e-10).setMaxIter(1000))
    // Both are within 1e-6 of the optimum.
    assert(math.abs(tried.objective / other.objective - 1.0) <= 1e-6)
  }

  test("where rows are alike the trial ends after four rounds, and the primal orientation goes on") {
    val tried = report(data(alike = 4))
    assert(tried.orientation == "primal" && tried.algorithm.startsWith("cocoa"), tried.toText)
    assert(tried.orientationReason.contains("after 4 rounds in the dual form"))
    assert(tried.rounds.map(_.round) == tried.rounds.indices)
    assert(tried.rounds.map(_.elapsed).sliding(2).forall(pair => pair.head <= pair.last))
    assert(tried.gap >= 0.0 && tried.converged, tried.toText)
  }

  test(
    "a trial that gets near the optimum in time ends the fit, whatever maxIter, and its model is no worse than L-BFGS's") {
    val frame = data(alike = 1)
    for (maxIter <- Seq(1, 4, 5, 6)) {
      val tried = report(frame, _.setMaxIter(maxIter).setTol(1e-13))
      assert((maxIter > 4) == tried.orientationReason.contains(s"$features features for $rows rows"), tried.toText)
      if (maxIter > 4) assert(tried.orientation == "dual" && !tried.orientationReason.contains("after"), tried.toText)
      val other = report(frame, _.setAlgorithm("l-bfgs").setMaxIter(maxIter))
      assert(tried.objective <= other.objective * (1.0 + 1e-7), s"${other.objective}\n${tried.toText}")
    }
  }

  test("a grid makes no trial again that has failed") {
    val grid = new LinearRegression().setRegParam(1e-3)
    val maps = Array(1e-3, 1e-4).map(r => new org.apache.spark.ml.param.ParamMap().put(grid.regParam -> r))
    val tried = grid.fit(data(alike = 4), maps.toSeq).map(FitReport.of)
    assert(tried.count(_.orientationReason.contains("after 4 rounds in the dual form")) == 1, tried.map(_.toText))
  }

  test("there is no trial where the user chooses, with an L1 penalty, and with few features for a row") {
    val frame = data(alike = 1)
    assert(report(frame, _.setOrientation("primal")).orientation == "primal")
    assert(report(frame, _.setLocalWork(2.0)).orientationReason.contains("in the primal form where"))
    assert(report(frame, _.setAlgorithm("cocoa")).orientationReason.contains("in the primal form where"))
    assert(report(frame, _.setElasticNetParam(0.5)).orientationReason.contains("in the primal form where"))
    val tall = data(alike = 1).union(data(alike = 1)).union(data(alike = 1)).union(data(alike = 1))
    assert(report(tall).orientationReason.contains("in the primal form where"))
  }
}
