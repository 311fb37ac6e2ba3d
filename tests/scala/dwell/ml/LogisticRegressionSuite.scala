package dwell.ml

import org.apache.spark.ml.Pipeline
import org.apache.spark.ml.classification.{BinaryLogisticRegressionTrainingSummary, LogisticRegression => SparkLogisticRegression, LogisticRegressionModel, OneVsRest}
import org.apache.spark.ml.feature.StandardScaler
import org.apache.spark.ml.linalg.{Matrices, Vectors}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, lit, when}

import dwell.{Logged, SparkSuite}
import dwell.ml.classification.LogisticRegression
import dwell.report.FitReport

/** The estimator of logistic regression through Spark ML's interface. */
class LogisticRegressionSuite extends SparkSuite {

  /** Relative error of coefficients at the default tol, which bounds the objective: coefficients vary by its square
   * root. */
  private val LooseTolerance = 5e-3

  private lazy val data: DataFrame = ClassificationData.dense(spark, 0.4)

  private def estimator: LogisticRegression = new LogisticRegression().setRegParam(0.1)
  private def stock: SparkLogisticRegression = new SparkLogisticRegression().setRegParam(0.1)

  private def close(a: LogisticRegressionModel, b: LogisticRegressionModel, tolerance: Double): Boolean =
    math
      .sqrt(Vectors.sqdist(a.coefficients, b.coefficients)) <= tolerance * (1.0 + Vectors.norm(b.coefficients, 2.0)) &&
      (a.intercept == b.intercept || math.abs(a.intercept - b.intercept) <= tolerance * (1.0 + math.abs(b.intercept)))

  test("fit returns Spark's own model with a binary training summary and a report") {
    val model = estimator.setTol(1e-9).setLocalWork(50).fit(data)
    val expected = stock.setTol(1e-12).setMaxIter(1000).fit(data)
    assert(model.getClass == classOf[LogisticRegressionModel] && model.numClasses == 2)
    assert(model.interceptVector.size == 1 && model.coefficientMatrix.numRows == 1)
    val summary = model.binarySummary
    assert(summary.isInstanceOf[BinaryLogisticRegressionTrainingSummary])
    assert(math.abs(summary.areaUnderROC - expected.binarySummary.areaUnderROC) < 1e-6)
    assert(summary.accuracy == expected.summary.accuracy && summary.roc.count() > 2)
    assert(summary.totalIterations == summary.objectiveHistory.length - 1)
    val last = expected.summary.objectiveHistory.last
    assert(math.abs(summary.objectiveHistory.last - last) <= 1e-7 * last)
    assert(model.evaluate(data).accuracy == summary.accuracy)
    val report = FitReport.of(model)
    assert(report.solver == "native" && report.converged && report.gap >= 0.0)
    assert(report.numRows == 150 && report.numFeatures == 8)
    assert(model.hasParent && model.parent.uid == model.uid)
  }

  test("threshold and thresholds reach the model, as with Spark") {
    val variants = Seq[SparkLogisticRegression => Any](
      _.setThreshold(0.8),
      _.setThresholds(Array(0.2, 0.8)),
      _.setThresholds(Array(0.0, 1.0)))
    variants.foreach { set =>
      val (ours, spark) = (estimator, stock)
      set(ours)
      set(spark)
      val (a, b) = (ours.fit(data), spark.fit(data))
      assert(a.getThreshold == b.getThreshold && a.isDefined(a.thresholds) == b.isDefined(b.thresholds))
      val differing = a
        .transform(data)
        .select("prediction")
        .collect()
        .toSeq
        .zip(b.transform(data).select("prediction").collect().toSeq)
        .count { case (x, y) => x != y }
      assert(differing <= 1) // a row on the threshold
    }
  }

  test("in a Pipeline, and with column names of its own and extra Params") {
    val renamed = data.toDF("click", "importance", "raw")
    val scaler = new StandardScaler().setInputCol("raw").setOutputCol("x").setWithMean(true)
    val ours = estimator.setFeaturesCol("x").setLabelCol("click").setWeightCol("importance").setProbabilityCol("p")
    val model = new Pipeline().setStages(Array(scaler, ours)).fit(renamed)
    val stage = model.stages.last.asInstanceOf[LogisticRegressionModel]
    assert(FitReport.of(stage).solver == "native")
    assert(model.transform(renamed).columns.contains("p") && stage.binarySummary.labelCol == "click")
    val extra = ours.fit(scaler.fit(renamed).transform(renamed), ParamMap(ours.regParam -> 5.0))
    assert(extra.getRegParam == 5.0 && ours.getRegParam == 0.1)
    assert(Vectors.norm(extra.coefficients, 2.0) < Vectors.norm(stage.coefficients, 2.0))
  }

  test("OneVsRest trains its binary models natively, labels with metadata included") {
    val three = data.withColumn("label", when(col("w") > 1.5, 2.0).otherwise(col("label")))
    val model = new OneVsRest().setClassifier(estimator).fit(three)
    assert(model.models.length == 3)
    model.models.foreach(m => assert(FitReport.of(m.asInstanceOf[LogisticRegressionModel]).solver == "native"))
  }

  test("an algorithm that does not train the model is refused, and auto trains it") {
    val three = data.withColumn("label", when(col("w") > 1.5, 2.0).otherwise(col("label")))
    val bound = Matrices.dense(1, 8, Array.fill(8)(0.01))
    val cases = Seq[(SparkLogisticRegression => Any, DataFrame, String)](
      (_ => (), three, "3 classes"),
      (_.setFamily("multinomial"), data, "2 classes"),
      (_.setUpperBoundsOnCoefficients(bound), data, "bounds"),
      (_.setLowerBoundsOnIntercepts(Vectors.dense(0.5)), data, "bounds"))
    cases.foreach { case (set, frame, reason) =>
      val ours = estimator.setLocalWork(3.0)
      set(ours)
      // localWork is for coordinate descent.
      val (model, warnings) = Logged.warnings(ours.fit(frame))
      assert(FitReport.of(model).solver == "native" && FitReport.of(model).algorithm == "newton")
      assert(warnings.exists(w => w.contains("localWork are not used") && w.contains(reason)), warnings)
      val e = intercept[IllegalArgumentException](ours.setAlgorithm("cocoa").fit(frame))
      assert(e.getMessage.contains("algorithm=cocoa") && e.getMessage.contains(reason), e.getMessage)
    }
  }

  test("labels of one class: coefficients 0 and an infinite intercept, as Spark answers") {
    val (ones, zeros) = (data.withColumn("label", lit(1.0)), data.withColumn("label", lit(0.0)))
    for (family <- Seq("auto", "multinomial"); (frame, label) <- Seq((ones, 1.0), (zeros, 0.0))) {
      val (ours, expected) = (estimator.setFamily(family).fit(frame), stock.setFamily(family).fit(frame))
      assert(FitReport.of(ours).solver == "native" && FitReport.of(ours).algorithm == "none")
      assert(ours.coefficientMatrix.numNonzeros == 0 && ours.numClasses == expected.numClasses)
      assert(ours.interceptVector == expected.interceptVector)
      assert(ours.summary.objectiveHistory.toSeq == expected.summary.objectiveHistory.toSeq)
      assert(ours.transform(frame).select("prediction").distinct().collect().map(_.getDouble(0)).toSeq == Seq(label))
    }
    for (family <- Seq("auto", "multinomial")) {
      val ours = estimator.setFamily(family).setFitIntercept(false).fit(ones)
      val expected = stock.setFamily(family).setFitIntercept(false).setTol(1e-12).fit(ones)
      assert(FitReport.of(ours).solver == "native" && ours.interceptVector == expected.interceptVector)
      assert(FitReport.of(ours).objective <= expected.summary.objectiveHistory.last * (1.0 + 1e-7))
    }
  }

  test("constant and all-zero columns have coefficient 0, with and without intercept") {
    Seq(true, false).foreach { intercept =>
      val model = estimator.setFitIntercept(intercept).fit(data)
      assert(model.coefficients(6) == 0.0 && model.coefficients(7) == 0.0)
    }
  }

  test("bad labels, weights and thresholds: Spark's messages") {
    def message(body: => Any): String = messages(intercept[Exception](body))
    Seq(0.5 -> "Labels MUST be Integers", -1.0 -> "Labels MUST be in", Double.NaN -> "Labels MUST").foreach {
      case (bad, words) =>
        val frame = data.withColumn("label", when(col("w") > 1.5, bad).otherwise(col("label")))
        assert(message(stock.fit(frame)).contains(words))
        assert(message(estimator.fit(frame)).contains(words))
    }
    val negative = data.withColumn("w", col("w") - 1.0)
    assert(message(estimator.setWeightCol("w").fit(negative)).contains("Weights MUST NOT be Negative"))
    val words = "non-matching numClasses and thresholds.length"
    assert(message(estimator.setThresholds(Array(0.2, 0.3, 0.5)).fit(data)).contains(words))
  }

  test("an initial model is where training starts, also after a copy; one that does not fit is ignored") {
    val optimum = estimator.setTol(1e-10).setLocalWork(50).fit(data)
    val again = estimator.setOrientation("primal").setInitialModel(optimum).copy(ParamMap.empty).setMaxIter(0).fit(data)
    // The fit starts by minimising the intercept exactly, from a model that was optimal up to tol.
    assert(close(again, optimum, 1e-6))
    val wide = estimator.fit(ClassificationData.sparse(spark, 0.5))
    assert(close(estimator.setInitialModel(wide).fit(data), optimum, LooseTolerance))
  }

  test("without a penalty, algorithm=cocoa solves natively to the most likely model") {
    val model = new LogisticRegression().setAlgorithm("cocoa").setLocalWork(100).setTol(1e-8).setMaxIter(500).fit(data)
    val expected = new SparkLogisticRegression().setTol(1e-14).setMaxIter(1000).fit(data.coalesce(1))
    assert(FitReport.of(model).solver == "native" && FitReport.of(model).orientation == "primal")
    assert(close(model, expected, LooseTolerance))
    val e = intercept[IllegalArgumentException] {
      new LogisticRegression().setAlgorithm("cocoa").setOrientation("dual").fit(data)
    }
    assert(e.getMessage.contains("regParam is 0") && e.getMessage.contains("raise regParam"))
  }

  test("maxIter and tol are honoured, and a fit that stops early says so") {
    val slow = estimator.setAlgorithm("cocoa").setNumWorkers(2).setLocalWork(0.3)
    val two = slow.setMaxIter(2).setTol(0.0).fit(data)
    assert(two.summary.totalIterations == 2 && !FitReport.of(two).converged)
    val loose = slow.setMaxIter(500).setTol(1e-2).fit(data)
    val tight = slow.setTol(1e-7).fit(data)
    assert(loose.summary.totalIterations < tight.summary.totalIterations)
    assert(FitReport.of(loose).relativeGap <= 1e-2 && FitReport.of(tight).relativeGap <= 1e-7)
  }
}
