package dwell.ml

import java.time.{Duration, Instant}

import scala.util.Random

import org.apache.spark.ml.{Model, Pipeline}
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.sql.DataFrame

import dwell.SparkSuite
import dwell.jni.NativeLoader
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.clustering.LDA
import dwell.ml.regression.LinearRegression
import dwell.report.FitReport

/** What reports say of what was asked for, and of what came out. */
class ReportSuite extends SparkSuite {

  /** Label 0 or 1, class 0, 1 or 2, a number, and features of which the last one says nothing. */
  private lazy val data: DataFrame = {
    val random = new Random(5)
    val rows = Seq.fill(600) {
      val x = Array.fill(4)(random.nextGaussian())
      val z = 2.0 * x(0) - x(1) + 0.5
      val noise = random.nextGaussian()
      (
        if (z + noise > 0) 1.0 else 0.0,
        math.max(0.0, math.min(2.0, math.floor(z + 1.5))),
        z + noise,
        Vectors.dense(x): Vector)
    }
    spark.createDataFrame(rows).toDF("label", "class", "number", "features").cache()
  }

  private lazy val counts: DataFrame = {
    val words = Seq.tabulate(50)(i => Vectors.dense(i % 3.0, (i + 1) % 4.0, i % 2.0, 1.0))
    spark.createDataFrame(words.map(Tuple1(_))).toDF("features").cache()
  }

  private def labels(column: String): Seq[Double] = data.select(column).collect().toSeq.map(_.getDouble(0))

  private def entropy(column: String): Double = {
    val all = labels(column)
    all.groupBy(identity).values.map(_.size.toDouble / all.size).map(p => -p * math.log(p)).sum
  }

  test("what was asked for: estimator, columns, Params, version and date") {
    val estimator = new LogisticRegression().setRegParam(0.125).setThreshold(0.25).setMaxIter(50)
    val before = Instant.now()
    val request = FitReport.of(estimator.fit(data)).request
    assert(request.estimator == "LogisticRegression" && request.version == NativeLoader.version())
    assert(Duration.between(before, request.date).abs.getSeconds <= 60)
    val params = request.params.toMap
    assert(params("featuresCol") == "features" && params("labelCol") == "label" && !params.contains("weightCol"))
    assert(params("regParam") == 0.125 && params("elasticNetParam") == 0.0 && params("tol") == 1e-6)
    assert(params("maxIter") == 50 && params("threshold") == 0.25 && params("algorithm") == "auto")
    assert(!params.contains("rawPredictionCol") && request.params.map(_._1).distinct.size == request.params.size)
    val text = FitReport.of(estimator.fit(data)).toText
    assert(text.contains("LogisticRegression featuresCol=features labelCol=label regParam=0.125 elasticNetParam=0.0"))
  }

  test("what came out: coefficients that are not 0, and the deviance explained") {
    val lasso = new LinearRegression().setLabelCol("number").setRegParam(0.3).setElasticNetParam(1.0).fit(data)
    val told = FitReport.of(lasso)
    val nonzero = lasso.coefficients.toArray.count(_ != 0.0)
    assert(told.coefficients == 4L && told.nonzeroCoefficients == nonzero && nonzero < 4)
    val y = labels("number")
    val mean = y.sum / y.size
    val squares = y.map(v => (v - mean) * (v - mean)).sum / y.size
    assert(math.abs(told.explained - (1.0 - told.objective / (0.5 * squares))) < 1e-9)
    assert(told.explained <= lasso.summary.r2 && told.explained > 0.5, "the penalty is not explained")
    assert(told.toText.contains(s"$nonzero of 4 coefficients are not 0; at least "))

    val plain = FitReport.of(new LinearRegression().setLabelCol("number").fit(data))
    assert(math.abs(plain.explained - new LinearRegression().setLabelCol("number").fit(data).summary.r2) < 1e-6)
    val origin = FitReport.of(new LinearRegression().setLabelCol("number").setFitIntercept(false).fit(data))
    assert(math.abs(origin.explained - (1.0 - origin.objective / (0.5 * y.map(v => v * v).sum / y.size))) < 1e-9)

    val logistic = FitReport.of(new LogisticRegression().fit(data))
    assert(math.abs(logistic.explained - (1.0 - logistic.objective / entropy("label"))) < 1e-9)
    val without = FitReport.of(new LogisticRegression().setFitIntercept(false).fit(data))
    assert(math.abs(without.explained - (1.0 - without.objective / math.log(2.0))) < 1e-9)
    val classes = new LogisticRegression().setLabelCol("class").setAlgorithm("l-bfgs").setRegParam(0.01)
    val softmax = FitReport.of(classes.fit(data))
    assert(
      softmax.coefficients == 12L && math.abs(softmax.explained - (1.0 - softmax.objective / entropy("class"))) < 1e-9)
    val hinge = FitReport.of(new LinearSVC().setRegParam(0.01).fit(data))
    assert(hinge.coefficients == 4L && hinge.explained.isNaN)
  }

  test("where Spark's own code trained, what was asked for is told, too") {
    val model = new LDA().setK(2).setMaxIter(1).setOptimizer("em").fit(counts)
    val told = FitReport.of(model)
    assert(told.solver == "spark" && told.request.estimator == "LDA" && told.coefficients == 0L)
    assert(told.request.params.toMap.apply("k") == 2 && told.toText.contains("LDA featuresCol=features k=2 maxIter=1"))
    assert(FitReport.of(model.copy(ParamMap.empty)) eq told)
  }

  test("copies have the report of their model, and other models with the same numbers have theirs") {
    val estimator = new LogisticRegression().setRegParam(0.1)
    val (one, other) = (estimator.fit(data), estimator.fit(data))
    assert(one.coefficients == other.coefficients && (FitReport.of(one) ne FitReport.of(other)))
    assert(FitReport.of(one.copy(ParamMap.empty)) eq FitReport.of(one))
    assert(FitReport.of(one.copy(ParamMap(one.threshold -> 0.3)).copy(ParamMap.empty)) eq FitReport.of(one))
    val line = new LinearRegression().setLabelCol("number").setRegParam(0.1).fit(data)
    val svc = new LinearSVC().setRegParam(0.1).fit(data)
    assert(FitReport.of(line.copy(ParamMap.empty)) eq FitReport.of(line))
    assert(FitReport.of(svc.copy(ParamMap.empty)) eq FitReport.of(svc))
    val pipeline = new Pipeline().setStages(Array(estimator)).fit(data)
    val stage = pipeline.copy(ParamMap.empty).stages.head.asInstanceOf[Model[_]]
    assert(FitReport.find(stage).exists(_.uid == estimator.uid))
    val topics = new LDA().setK(2).setMaxIter(2).fit(counts)
    assert(FitReport.of(topics.copy(ParamMap.empty)) eq FitReport.of(topics))
  }

  test("a model without a coefficient has a report of its own") {
    val zero = new LinearRegression().setLabelCol("number").setRegParam(1e6).setElasticNetParam(1.0)
    val (one, other) = (zero.fit(data), zero.setRegParam(2e6).fit(data))
    assert(one.coefficients.numNonzeros == 0 && (FitReport.of(one) ne FitReport.of(other)))
    assert(FitReport.of(one).nonzeroCoefficients == 0L && FitReport.of(one).coefficients == 4L)
    assert(FitReport.of(other).request.params.toMap.apply("regParam") == 2e6)
  }
}
