package dwell.ml

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}
import java.lang.reflect.{InvocationTargetException, Modifier}
import java.nio.file.Files

import scala.util.{Failure, Random, Success, Try}

import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression, LinearRegressionBridge, LinearRegressionModel}
import org.apache.spark.sql.{DataFrame, Dataset}

import dwell.{Listened, SparkSuite}
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression

/** Training summaries, which are made when they are asked for: every member, and when the data are read. */
class SummarySuite extends SparkSuite {
  import SummarySuite._

  /** One partition: Spark's sums over several come in any order. */
  private lazy val data: DataFrame = {
    val random = new Random(11)
    val rows = Seq.fill(200) {
      val x = Array.fill(3)(random.nextGaussian())
      val score = 2.0 * x(0) - x(1) + 0.3 * random.nextGaussian()
      (
        score,
        if (score > 0.3) 1.0 else 0.0,
        random.nextInt(3).toDouble,
        0.5 + random.nextInt(3),
        Vectors.dense(x): Vector)
    }
    spark.createDataFrame(rows).toDF("label", "class", "three", "w", "features").coalesce(1).cache()
  }

  private def linear: LinearRegression = new LinearRegression().setWeightCol("w")

  for ((name, fit) <- Seq[(String, () => AnyRef)](
      "LinearRegression" -> (() => linear.fit(data)),
      "LogisticRegression of two classes" ->
        (() => new LogisticRegression().setLabelCol("class").setWeightCol("w").fit(data)),
      "LogisticRegression of three classes" ->
        (() => new LogisticRegression().setLabelCol("three").setRegParam(0.1).fit(data)),
      "LinearSVC" ->
        (() => new LinearSVC().setLabelCol("class").setRegParam(0.1).setWeightCol("w").fit(data))))
    test(s"$name: every member of the summary is that of Spark's own") {
      val model = fit()
      val summary = call(model, "summary")
      assert(made(summary) == null)
      val own = call(model, "evaluate", data)
      val members = summary.getClass.getSuperclass.getMethods.filter { method =>
        method.getParameterCount == 0 && !Modifier.isStatic(method.getModifiers) && !method.getName.contains("$") &&
        method.getDeclaringClass != classOf[Object]
      }
      assert(members.length > 15)
      for (member <- members.sortBy(_.getName)) {
        val value = valueOf(call(summary, member.getName))
        // An evaluation has no training, and no normal equations.
        if (OfTraining(member.getName)) assert(!value.toString.startsWith(Fails), member.getName)
        else if (value != summary) assert(value == valueOf(call(own, member.getName)), member.getName)
      }
      assert(
        call(summary, "totalIterations") == call(summary, "objectiveHistory").asInstanceOf[Array[Double]].length - 1)
    }

  test("the jobs of a linear regression's summary wait until a member is asked for that needs them, and run once") {
    val model = linear.fit(data)
    assert(model.hasSummary && made(model.summary) == null)
    assert(Listened.jobs(sc)(LinearRegressionBridge.attachSummary(model, data, Array(2.0, 1.0), None)) == 0)
    assert(Listened.jobs(sc)(model.summary.objectiveHistory.length + model.summary.totalIterations) == 0)
    assert(Listened.jobs(sc)(model.summary.r2) > 0)
    assert(Listened.jobs(sc)(Seq(model.summary.r2adj, model.summary.meanAbsoluteError)) == 0)
  }

  test("Params that are set after the fit and a release of the data change no summary") {
    val released = data.select("label", "w", "features").coalesce(1).cache()
    val model = linear.fit(released)
    val expected = valueOf(model.evaluate(released).predictions)
    model.setPredictionCol("other").setFeaturesCol("nowhere")
    released.unpersist(blocking = true)
    assert(model.summary.predictionCol == "prediction" && model.summary.featuresCol == "features")
    assert(valueOf(model.summary.predictions) == expected)
    val classifier = new LogisticRegression().setLabelCol("class").fit(data)
    val accuracy = classifier.evaluate(data).accuracy
    classifier.setThreshold(1.0).setFeaturesCol("nowhere").setProbabilityCol("other")
    assert(classifier.summary.accuracy == accuracy && classifier.summary.probabilityCol == "probability")
  }

  test("what Spark refuses to compute stays refused, in its words") {
    def refusal(estimator: SparkLinearRegression): String =
      intercept[UnsupportedOperationException](
        estimator.setRegParam(0.1).setElasticNetParam(0.5).setSolver("l-bfgs").fit(data).summary.pValues).getMessage
    assert(refusal(new LinearRegression()) == refusal(new SparkLinearRegression()))
  }

  test("copies share the summary, and models that were saved have none, as in Spark") {
    val model = linear.fit(data)
    assert(model.copy(ParamMap.empty).summary eq model.summary)
    val path = Files.createTempDirectory("summary").resolve("model").toString
    model.write.save(path)
    assert(!LinearRegressionModel.load(path).hasSummary)
  }

  test("a model that is serialised takes along what its summary has computed, and predicts before that") {
    val model = linear.fit(data)
    assert(model.transform(data).select("prediction").collect().length == 200)
    val early = copied(model).summary
    assert(early.objectiveHistory.toSeq == model.summary.objectiveHistory.toSeq)
    val said = intercept[IllegalStateException](early.r2).getMessage
    assert(said.contains("before you serialise the model"), said)
    assert(model.summary.r2 > 0.5)
    assert(copied(model).summary.r2 == model.summary.r2)
  }

  test("Spark Connect's server finds the members of a summary, and stores it") {
    val model = linear.fit(data)
    for (helper <- Try(Class.forName("org.apache.spark.sql.connect.ml.MLUtils$"))) {
      val utils = helper.getField("MODULE$").get(null)
      val read = helper.getMethod("invokeMethodAllowed", classOf[Object], classOf[String])
      for (name <- Seq("r2", "pValues", "predictions", "numInstances", "objectiveHistory"))
        assert(valueOf(read.invoke(utils, model.summary, name)) == valueOf(call(model.summary, name)), name)
    }
    for (save <- model.getClass.getMethods.find(_.getName == "saveSummary")) {
      val path = Files.createTempDirectory("summary").resolve("stored").toString
      val loaded = model.copy(ParamMap.empty)
      save.invoke(model, path)
      loaded.getClass.getMethods.find(_.getName == "loadSummary").get.invoke(loaded, path, data)
      assert(loaded.summary ne model.summary)
      assert(loaded.summary.pValues.toSeq == model.summary.pValues.toSeq && loaded.summary.r2 == model.summary.r2)
    }
  }
}

private object SummarySuite {

  /** Members of a training summary, beyond those of an evaluation. */
  private val OfTraining = Set(
    "objectiveHistory",
    "totalIterations",
    "diagInvAtWA",
    "coefficientArray",
    "coefficientStandardErrors",
    "tValues",
    "pValues")

  private def call(target: Any, name: String, arguments: AnyRef*): Any =
    try
      target.getClass.getMethods
        .find(method => method.getName == name && method.getParameterCount == arguments.length)
        .get
        .invoke(target, arguments: _*)
    catch { case e: InvocationTargetException => throw e.getCause }

  /** Spark's own summary, if it was made. */
  private def made(summary: Any): Any = field(field(summary, "own"), "made")

  private def field(target: Any, name: String): Any = {
    val found = target.getClass.getDeclaredField(name)
    found.setAccessible(true)
    found.get(target)
  }

  /** What two summaries that say the same have in common, exceptions included. */
  private def valueOf(value: => Any): Any =
    Try(value) match {
      case Success(rows: Dataset[_]) => (rows.columns.toSeq, rows.collect().toSeq)
      case Success(values: Array[_]) => values.toSeq
      case Success(other) => other
      case Failure(e) => s"$Fails $e"
    }

  private val Fails = "It fails:"

  private def copied(model: LinearRegressionModel): LinearRegressionModel = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(model)
    out.close()
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject().asInstanceOf[LinearRegressionModel]
  }
}
