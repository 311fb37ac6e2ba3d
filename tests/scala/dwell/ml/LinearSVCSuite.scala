package dwell.ml

import scala.util.Random

import org.apache.spark.ml.classification.{LinearSVC => SparkLinearSVC, LinearSVCModel, OneVsRest}
import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, lit, when}

import dwell.SparkSuite
import dwell.fit.DwellConf
import dwell.ml.classification.LinearSVC
import dwell.report.FitReport

/** The estimator of linear support vector machines through Spark ML's interface. */
class LinearSVCSuite extends SparkSuite {

  private lazy val data: DataFrame = ClassificationData.dense(spark, 0.4)

  private def estimator: LinearSVC = new LinearSVC().setRegParam(0.1)

  test("fit returns Spark's own model with a training summary and a report") {
    val model = estimator.setWeightCol("w").setThreshold(0.2).fit(data)
    assert(model.getClass == classOf[LinearSVCModel] && model.getThreshold == 0.2)
    val summary = model.summary
    assert(summary.areaUnderROC > 0.7 && summary.roc.count() > 2 && summary.weightCol == "w")
    assert(summary.totalIterations == summary.objectiveHistory.length - 1)
    assert(model.evaluate(data).accuracy == summary.accuracy)
    assert(FitReport.of(model).solver == "native" && FitReport.of(model).algorithm == "newton")
  }

  test(
    "with few features auto takes Newton's method, with a certificate, and comes to the optimum of coordinate descent") {
    val random = new Random(3)
    val rows = Seq.fill(2500) {
      val x = Array.fill(2)(random.nextGaussian())
      (if (x(0) - 0.5 * x(1) + random.nextGaussian() > 0.2) 1.0 else 0.0, Vectors.dense(x))
    }
    val tall = spark.createDataFrame(rows).toDF("label", "features").repartition(4).cache()
    def report(algorithm: String): FitReport =
      FitReport.of(new LinearSVC().setRegParam(0.01).setAlgorithm(algorithm).setNumWorkers(2).fit(tall))
    val (newton, coordinates) = (report("auto"), report("cocoa"))
    assert(newton.algorithm == "newton" && newton.toText.contains("where coordinate descent takes"), newton.toText)
    assert(newton.relativeGap <= 1e-6, newton.toText)
    assert(newton.objective <= coordinates.objective + coordinates.gap, s"${newton.objective}, ${coordinates.toText}")
    tall.unpersist()
  }

  test("labels of one class: no loss, with an intercept at once") {
    val ones = data.withColumn("label", lit(1.0))
    for (loss <- Seq("hinge", "squaredHinge")) {
      val model = estimator.setLoss(loss).fit(ones)
      assert(model.coefficients.numNonzeros == 0 && model.intercept == 1.0 && model.hasSummary)
      assert(FitReport.of(model).algorithm == "none" && FitReport.of(model).objective == 0.0)
      assert(model.transform(ones).select("prediction").distinct().collect().map(_.getDouble(0)).toSeq == Seq(1.0))
      val through = estimator.setLoss(loss).setFitIntercept(false).fit(ones)
      val report = FitReport.of(through)
      assert(report.solver == "native" && report.converged && report.objective < 1.0, report.toText)
    }
    // Spark's line search takes hundreds of steps from there on.
    val stock = new SparkLinearSVC().setRegParam(0.1).setFitIntercept(false).setMaxIter(10).fit(ones.coalesce(1))
    val ours = FitReport.of(estimator.setFitIntercept(false).fit(ones)).objective
    assert(ours <= stock.summary.objectiveHistory.last * (1.0 + 1e-6))
  }

  test("what cannot be trained: an exception that says why") {
    val hinge = intercept[IllegalArgumentException](estimator.setRegParam(0.0).setAlgorithm("cocoa").fit(data))
    assert(hinge.getMessage.contains("algorithm=cocoa") && hinge.getMessage.contains("regParam is 0"))
    // Spark has no squared hinge to fall back to, and Dwell must never train another model silently.
    val zeros = data.withColumn("label", lit(0.0))
    val e = intercept[UnsupportedOperationException](estimator.setLoss("squaredHinge").fit(zeros))
    assert(e.getMessage.contains("has 1 class") && e.getMessage.contains("no squared hinge"))
    withConf(DwellConf.Fallback, "error") {
      assert(intercept[UnsupportedOperationException](estimator.fit(zeros)).getMessage.contains("has 1 class"))
    }
  }

  test("without a penalty, Spark's default: no worse than Spark's model") {
    for (rows <- Seq(data, ClassificationData.sparse(spark, 0.5))) {
      def loss(model: org.apache.spark.ml.classification.LinearSVCModel): Double =
        rows
          .select("label", "features")
          .collect()
          .map { row =>
            val margin = row.getAs[org.apache.spark.ml.linalg.Vector](1).dot(model.coefficients) + model.intercept
            math.max(0.0, 1.0 - (2.0 * row.getDouble(0) - 1.0) * margin)
          }
          .sum / rows.count()
      val ours = new LinearSVC().fit(rows)
      val report = FitReport.of(ours)
      assert(report.algorithm == "l-bfgs" && report.dual.isNaN, report.toText)
      assert(math.abs(report.objective - loss(ours)) <= 1e-9 * (1.0 + loss(ours)))
      assert(loss(ours) <= loss(new SparkLinearSVC().setMaxIter(30).fit(rows.coalesce(1))) + 1e-6, report.toText)
      new LinearSVC().setLoss("squaredHinge").fit(rows)
    }
  }

  test("labels that are not 0 and 1: Spark's messages") {
    def message(body: => Any): String = messages(intercept[Exception](body))
    val three = data.withColumn("label", when(col("w") > 1.5, 2.0).otherwise(col("label")))
    Seq(three -> "Labels MUST be in {0, 1}", data.withColumn("label", lit(0.0)) -> "binary classification").foreach {
      case (frame, words) =>
        assert(message(new SparkLinearSVC().setRegParam(0.1).fit(frame)).contains(words))
        assert(message(estimator.fit(frame)).contains(words))
    }
  }

  test("orientation=primal is refused for the hinge, and is one of two ways for the squared hinge") {
    val e = intercept[IllegalArgumentException](estimator.setOrientation("primal").fit(data))
    assert(e.getMessage.contains("hinge") && e.getMessage.contains("Use orientation dual or auto"))
    val models = Seq("primal", "dual").map { orientation =>
      estimator.setLoss("squaredHinge").setOrientation(orientation).setLocalWork(100).setTol(1e-10).fit(data)
    }
    assert(math.sqrt(Vectors.sqdist(models(0).coefficients, models(1).coefficients)) < 1e-4)
  }

  test("OneVsRest trains its binary models natively") {
    val three = data.withColumn("label", when(col("w") > 1.5, 2.0).otherwise(col("label")))
    val model = new OneVsRest().setClassifier(estimator).fit(three)
    model.models.foreach(m => assert(FitReport.of(m.asInstanceOf[LinearSVCModel]).solver == "native"))
  }
}
