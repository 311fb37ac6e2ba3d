package dwell.ml

import java.nio.file.Files

import org.apache.spark.ml.{Estimator, Model}
import org.apache.spark.ml.classification.{LinearSVC => SparkLinearSVC, LinearSVCModel, LogisticRegression => SparkLogisticRegression, LogisticRegressionModel}
import org.apache.spark.ml.param.Params
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression, LinearRegressionModel}
import org.apache.spark.ml.util.MLWritable
import org.apache.spark.sql.DataFrame

import dwell.SparkSuite
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression
import dwell.report.FitReport

/** What the linear estimators have in common through Spark ML's interface: their Params, and what is saved and loaded. */
class LinearEstimatorsSuite extends SparkSuite {
  import LinearEstimatorsSuite._

  private lazy val data: DataFrame = ClassificationData.dense(spark, 0.4)

  for (kind <- kinds) {
    test(s"${kind.name}: every Param and default of Spark's estimator is inherited") {
      val (ours, stock) = (kind.ours(), kind.stock)
      assert(ours.params.map(_.name).toSet == stock.params.map(_.name).toSet ++ kind.added)
      stock.params.foreach(p => assert(ours.getDefault(ours.getParam(p.name)) == stock.getDefault(p), p.name))
      assert(kind.added.forall(name => ours.hasDefault(ours.getParam(name))))
    }

    test(s"${kind.name}: setters return the estimator in Java as well, so that calls can be chained") {
      kind.added.foreach { name =>
        val methods = kind.ours().getClass.getMethods.filter(_.getName == s"set${name.capitalize}")
        assert(methods.nonEmpty && methods.forall(_.getReturnType == kind.ours().getClass), name)
      }
    }

    test(s"${kind.name}: a saved model is Spark's, which loads as such and predicts the same") {
      val estimator = kind.changed()
      val path = Files.createTempDirectory("dwell-model").resolve("m").toString
      val model = estimator.fit(data).asInstanceOf[Model[_] with MLWritable]
      model.write.save(path)
      val metadata = spark.read.textFile(s"$path/metadata").head()
      assert(metadata.contains(s""""class":"${model.getClass.getName}"""") && model.getClass.getName.startsWith("org."))
      assert(!metadata.contains("dwell") && !kind.added.exists(name => metadata.contains(s""""$name"""")))
      val loaded = kind.loadModel(path)
      assert(numbers(loaded) == numbers(model) && setOf(loaded) == setOf(model))
      def predictions(of: Model[_]) = of.transform(data).select("prediction").collect().toSeq
      assert(predictions(loaded) == predictions(model))
      assert(intercept[NoSuchElementException](FitReport.of(loaded)).getMessage.contains("no fit report"))
    }

    test(s"${kind.name}: the estimator itself is saved and loaded, with its own Params") {
      val path = Files.createTempDirectory("dwell-estimator").resolve("e").toString
      kind.changed().write.save(path)
      val loaded = kind.load(path)
      assert(loaded.getClass == kind.ours().getClass && setOf(loaded) == setOf(kind.changed()))
    }
  }

  test("setters of columns keep the type, so that those of Dwell can follow") {
    val linear = new LinearRegression().setLabelCol("y").setFeaturesCol("x").setPredictionCol("p").setNumWorkers(3)
    val logistic = new LogisticRegression()
      .setLabelCol("y")
      .setFeaturesCol("x")
      .setPredictionCol("p")
      .setRawPredictionCol("r")
      .setProbabilityCol("q")
      .setNumWorkers(3)
    val svc = new LinearSVC()
      .setLabelCol("y")
      .setFeaturesCol("x")
      .setPredictionCol("p")
      .setRawPredictionCol("r")
      .setNumWorkers(3)
    val columns = Map[String, Any]("labelCol" -> "y", "featuresCol" -> "x", "predictionCol" -> "p", "numWorkers" -> 3)
    assert(setOf(linear) == columns && setOf(svc) == columns + ("rawPredictionCol" -> "r"))
    assert(setOf(logistic) == columns + ("rawPredictionCol" -> "r") + ("probabilityCol" -> "q"))
  }

  test("values that are not built are refused, with the list of those that are") {
    val ours = new LinearRegression()
    Seq[(String, String => Any, String)](
      ("svrg", ours.setAlgorithm, "algorithm must be one of auto, cocoa"),
      ("rows", ours.setOrientation, "orientation must be one of auto, primal, dual"),
      ("mpi", ours.setAggregation, "aggregation must be one of auto, driver, shuffle, gang"),
      ("logistic", new LinearSVC().setLoss, "loss must be one of hinge, squaredHinge"),
      ("fast", ours.setStepSize(_: String), "stepSize"),
      ("-1.0", ours.setStepSize(_: String), "stepSize"),
      ("-1", ours.setLocalWork(_: String), "localWork must be 'auto' or a positive number")).foreach {
      case (value, set, message) =>
        val e = intercept[IllegalArgumentException](set(value))
        assert(e.getMessage.contains(message) && e.getMessage.contains(value))
    }
    assert(intercept[IllegalArgumentException](ours.setNumWorkers(-1)).getMessage.contains("numWorkers"))
    assert(intercept[IllegalArgumentException](ours.setRegParam(-0.5)).getMessage.contains("regParam"))
    assert(intercept[IllegalArgumentException](ours.setElasticNetParam(1.5)).getMessage.contains("elasticNetParam"))
  }
}

private object LinearEstimatorsSuite {

  /** A class of estimators: Dwell's, with the Params that it adds, Spark's, and how they and their models are loaded. */
  private final case class Kind(
      name: String,
      ours: () => Estimator[_] with MLWritable,
      stock: Params,
      added: Set[String],
      load: String => Params,
      loadModel: String => Model[_]) {

    /** With Params of Spark's and of Dwell's that are not their defaults. */
    def changed(): Estimator[_] with MLWritable = {
      val own = added.intersect(Set("loss")).map(_ -> "squaredHinge").toSeq
      val spark = Seq("regParam" -> 0.1) ++ (if (stock.hasParam("threshold")) Seq("threshold" -> 0.3) else Nil)
      SetParams(ours())(Seq("localWork" -> "2.5", "numWorkers" -> 3, "orientation" -> "dual") ++ spark ++ own: _*)
    }
  }

  private val added = Set("algorithm", "orientation", "localWork", "aggregation", "numWorkers", "stepSize")

  private val kinds = Seq(
    Kind(
      "LinearRegression",
      () => new LinearRegression(),
      new SparkLinearRegression(),
      added,
      LinearRegression.load,
      LinearRegressionModel.load),
    Kind(
      "LogisticRegression",
      () => new LogisticRegression(),
      new SparkLogisticRegression(),
      added,
      LogisticRegression.load,
      LogisticRegressionModel.load),
    Kind("LinearSVC", () => new LinearSVC(), new SparkLinearSVC(), added + "loss", LinearSVC.load, LinearSVCModel.load))

  /** The Params that are set, by their names. */
  private def setOf(params: Params): Map[String, Any] =
    params.params.flatMap(p => params.get(p).map(p.name -> _)).toMap

  private def numbers(model: Model[_]): Any = model match {
    case m: LinearRegressionModel => (m.coefficients, m.intercept)
    case m: LogisticRegressionModel => (m.coefficients, m.intercept)
    case m: LinearSVCModel => (m.coefficients, m.intercept)
  }
}
