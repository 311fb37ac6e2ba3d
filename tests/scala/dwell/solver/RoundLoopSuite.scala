package dwell.solver

import scala.util.Random

import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.regression.LinearRegressionModel
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.sql.DataFrame

import dwell.{DwellConf, SparkSuite}
import dwell.jni.NativeBridge
import dwell.ml.regression.LinearRegression
import dwell.report.{FitReport, RoundCompleted}

/** Rounds on Spark: the same iterates whoever holds the state, and the same answer after a loss. */
class RoundLoopSuite extends SparkSuite {

  private lazy val data: DataFrame = {
    val random = new Random(17)
    val rows = Seq.fill(400) {
      val ids = Seq.fill(12)((80 * math.pow(random.nextDouble(), 2.0)).toInt).distinct.sorted
      val x = Vectors.sparse(80, ids.map(i => (i, random.nextGaussian())))
      (x.toArray.take(9).sum + 0.5 * random.nextGaussian(), 0.5 + random.nextDouble(), x: Vector)
    }
    spark.createDataFrame(rows).toDF("label", "w", "features").repartition(3).cache()
  }

  private def fit(k: Int, elasticNet: Double, conf: (String, String)*): LinearRegressionModel = {
    conf.foreach { case (key, value) => spark.conf.set(key, value) }
    try estimator(k, elasticNet).fit(data)
    finally conf.foreach { case (key, _) => spark.conf.unset(key) }
  }

  private def estimator(k: Int, elasticNet: Double): LinearRegression =
    new LinearRegression()
      .setRegParam(0.02)
      .setElasticNetParam(elasticNet)
      .setWeightCol("w")
      .setNumWorkers(k)
      .setLocalWork(0.7)
      .setMaxIter(12)
      .setTol(0.0)

  private def same(a: LinearRegressionModel, b: LinearRegressionModel): Unit = {
    assert(a.coefficients == b.coefficients && a.intercept == b.intercept)
    assert(FitReport.of(a).rounds.map(_.objective) == FitReport.of(b).rounds.map(_.objective))
    assert(FitReport.of(a).gap == FitReport.of(b).gap)
  }

  for (k <- Seq(1, 2, 3, 8); elasticNet <- Seq(0.0, 0.5, 1.0)) {
    test(s"persistent and travelling state, native and JVM: the same bits, K = $k, elasticNetParam $elasticNet") {
      val base = fit(k, elasticNet)
      assert(FitReport.of(base).solver == "native")
      same(fit(k, elasticNet, DwellConf.State -> "travelling"), base)
      val jvm = fit(k, elasticNet, DwellConf.Solver -> "jvm")
      assert(FitReport.of(jvm).solver == "jvm")
      same(jvm, base)
      same(fit(k, elasticNet, DwellConf.Solver -> "jvm", DwellConf.State -> "travelling"), base)
    }
  }

  test("state that is lost in mid-fit is rebuilt, and the fit ends at the same optimum") {
    val whole = estimator(3, 0.3).setTol(1e-9).setMaxIter(300).fit(data)
    val losing = new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
        // Every state of this process, as if the executor had been replaced.
        case RoundCompleted(_, r) if r.round == 4 || r.round == 9 => NativeBridge.expire(0L)
        case _ =>
      }
    }
    spark.sparkContext.addSparkListener(losing)
    val model =
      try estimator(3, 0.3).setTol(1e-9).setMaxIter(300).fit(data)
      finally spark.sparkContext.removeSparkListener(losing)
    val (report, expected) = (FitReport.of(model), FitReport.of(whole))
    assert(report.stateLosses > 0 && report.stateLosses % 3 == 0)
    assert(report.converged && expected.converged)
    assert(math.abs(report.objective - expected.objective) <= 1e-9 * expected.objective)
    assert(math.sqrt(Vectors.sqdist(model.coefficients, whole.coefficients)) < 1e-4)
  }

  test("the answer does not depend on K, and gap bounds the true suboptimality in every round") {
    val optimum = FitReport.of(estimator(1, 0.5).setLocalWork(50).setTol(1e-13).setMaxIter(50).fit(data)).objective
    Seq(1, 2, 4, 7).foreach { k =>
      val report = FitReport.of(estimator(k, 0.5).setTol(1e-8).setMaxIter(500).fit(data))
      assert(report.converged && report.objective - optimum <= 1e-8 * report.objective)
      report.rounds.foreach(r => assert(r.gap >= r.objective - optimum - 1e-12 * optimum, s"K = $k, ${r.toLine}"))
    }
  }
}
