package dwell.ml

import java.nio.file.Files

import scala.util.Random

import org.apache.spark.SparkException
import org.apache.spark.ml.classification.MultilayerPerceptronClassificationModel
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.sql.DataFrame

import dwell.SparkSuite
import dwell.fit.DwellConf
import dwell.ml.classification.MultilayerPerceptronClassifier
import dwell.report.{FitReport, NetworkFitReport}

/** The estimator of networks through Spark ML's interface. */
class NetworkSuite extends SparkSuite {

  /** Rows of the exclusive or, which no linear model explains, with a feature that says nothing. */
  private def rows(label: Int => Double = _.toDouble): DataFrame = {
    val random = new Random(11)
    val rows = Seq.fill(400) {
      val (a, b) = (random.nextInt(2), random.nextInt(2))
      (label(a ^ b), Vectors.dense(a.toDouble, b.toDouble, random.nextDouble()): Vector)
    }
    spark.createDataFrame(rows).toDF("label", "features").repartition(3).cache()
  }

  private lazy val data = rows()

  private def estimator: MultilayerPerceptronClassifier =
    new MultilayerPerceptronClassifier().setLayers(Array(3, 6, 2)).setSeed(3L).setMaxIter(60)

  private def mistakes(model: MultilayerPerceptronClassificationModel): Long =
    model.transform(data).filter("prediction != label").count()

  test("the exclusive or is learned, in a model of Spark's own with a summary") {
    val mlp = estimator
    val model = mlp.fit(data)
    assert(model.getClass == classOf[MultilayerPerceptronClassificationModel] && model.parent == mlp)
    assert(model.getLayers.toSeq == Seq(3, 6, 2) && mistakes(model) == 0L)
    assert(model.summary.accuracy == 1.0)
    val history = model.summary.objectiveHistory
    assert(history.length > 10 && history.zip(history.tail).forall { case (a, b) => b <= a } && history.last < 0.05)
  }

  test("the report has the rounds, and says that a network has no certificate") {
    val model = estimator.setMaxIter(5).fit(data)
    val report = FitReport.of(model)
    assert(report.isInstanceOf[NetworkFitReport] && FitReport.of(model.copy(ParamMap.empty)) == report)
    assert((report.solver, report.algorithm, report.converged) == (("native", "l-bfgs", false)))
    assert((report.numRows, report.numFeatures, report.tolerance) == ((400L, 3, 1e-6)))
    assert(report.rounds.map(_.objective) == model.summary.objectiveHistory.toSeq && report.rounds.size == 6)
    assert(report.objective == report.rounds.last.objective && report.gap.isNaN && report.dual.isNaN)
    assert(report.rounds.tail.forall(r => r.localWork >= 1.0 && r.workerSeconds > 0.0 && r.driverSeconds >= 0.0))
    assert(report.coefficients == 3 * 6 + 6 + 6 * 2 + 2)
    assert(report.toText.contains("no lower bound") && report.toText.contains("NOT converged"))
    assert(report.toHtml.contains("none: a network has many local optima"))
    val phases = report.phases
    assert(Seq(phases.reading, phases.workers, phases.model).forall(_ > 0.0) && report.totalSeconds == phases.total)
    assert(FitReport.of(estimator.setTol(0.5).fit(data)).converged)
  }

  test("all ways that updates travel in give the same bits, and so does a second fit") {
    for (algorithm <- Seq("l-bfgs", "ma-sgd")) {
      def weights(aggregation: String): Seq[Double] = {
        val model = averaging.setAlgorithm(algorithm).setAggregation(aggregation).setMaxIter(20).fit(data)
        val report = FitReport.of(model)
        assert(report.aggregation == aggregation && report.numPartitions == 2 && report.algorithm == algorithm)
        model.weights.toArray.toSeq
      }
      val driver = weights("driver")
      assert(weights("driver") == driver && weights("shuffle") == driver && weights("gang") == driver)
    }
  }

  /** Model averaging, by batches of a size that suits few rows. */
  private def averaging: MultilayerPerceptronClassifier =
    estimator.setAlgorithm("ma-sgd").setBlockSize(8).setNumWorkers(2)

  test("ma-sgd: the exclusive or is learned, and the report has its rounds and no certificate") {
    val model = averaging.setMaxIter(100).fit(data)
    assert(mistakes(model) == 0L)
    val report = FitReport.of(model)
    assert(report.isInstanceOf[NetworkFitReport])
    assert((report.solver, report.algorithm, report.numPartitions) == (("native", "ma-sgd", 2)))
    assert(report.rounds.size == 101 && report.gap.isNaN && report.toText.contains("no lower bound"))
    assert(report.rounds.tail.forall(r => r.localWork == 1.0 && r.workerSeconds > 0.0))
    assert(report.rounds(1).note.contains("first step size") && model.summary.objectiveHistory.length == 101)
    val first = FitReport.of(estimator.setMaxIter(1).fit(data)).rounds.head.objective
    assert(math.abs(report.rounds.head.objective - first) < 1e-12 && report.objective < 0.1, report.toText)
  }

  test("ma-sgd: one round of whole batches is a step of Spark's gradient descent, however rows are dealt") {
    def step(change: MultilayerPerceptronClassifier => MultilayerPerceptronClassifier): Vector =
      change(estimator.setBlockSize(1000).setMaxIter(1)).setStepSize(0.7).fit(data.coalesce(1)).weights
    val theirs = step(_.setSolver("gd"))
    for (workers <- 1 to 3) {
      val ours = step(_.setAlgorithm("ma-sgd").setNumWorkers(workers))
      assert(math.sqrt(Vectors.sqdist(ours, theirs)) < 1e-12, s"$workers workers")
    }
  }

  test("ma-sgd: a first step that is far too long is halved, and the loss falls all the same") {
    val report = FitReport.of(averaging.setStepSize(1e4).setMaxIter(40).fit(data))
    assert(report.rounds(1).note.contains("first step size 1") && report.rounds.count(_.note.contains("halved")) > 5)
    assert(report.objective < report.rounds.head.objective)
  }

  test("ma-sgd: rounds end where steps change nothing, and half an epoch is a round") {
    val brief = FitReport.of(averaging.setTol(0.9).setMaxIter(100).fit(data))
    assert(brief.converged && brief.rounds.size < 50)
    assert(FitReport.of(averaging.setLocalWork(0.5).setMaxIter(3).fit(data)).rounds.tail.forall(_.localWork == 0.5))
  }

  test("algorithm has the methods that train networks") {
    assert(estimator.getAlgorithm == "auto" && estimator.getLocalWork == "auto")
    val refused = intercept[IllegalArgumentException](estimator.setAlgorithm("cocoa"))
    assert(refused.getMessage.contains("one of auto, ma-sgd, l-bfgs"))
    assert(FitReport.of(estimator.setAlgorithm("l-bfgs").setMaxIter(1).fit(data)).algorithm == "l-bfgs")
  }

  test("models and estimators are saved and loaded") {
    val folder = Files.createTempDirectory("network")
    val model = estimator.setMaxIter(3).fit(data)
    model.save(folder.resolve("model").toString)
    val loaded = MultilayerPerceptronClassificationModel.load(folder.resolve("model").toString)
    assert(loaded.weights == model.weights && loaded.getLayers.sameElements(model.getLayers))
    assert(mistakes(loaded) == mistakes(model))
    averaging.setAggregation("driver").setLocalWork(2.0).save(folder.resolve("estimator").toString)
    val again = MultilayerPerceptronClassifier.load(folder.resolve("estimator").toString)
    assert((again.getAggregation, again.getNumWorkers, again.getSeed) == (("driver", 2, 3L)))
    assert(again.getLayers.toSeq == Seq(3, 6, 2) && again.getAlgorithm == "ma-sgd" && again.getLocalWork == "2.0")
  }

  test("solver gd is left to Spark, with the reason") {
    val gd = estimator.setSolver("gd").setMaxIter(2)
    val report = FitReport.of(gd.fit(data))
    assert(report.solver == "spark" && report.reason.exists(_.contains("solver=gd")) && report.phases.spark > 0.0)
    val e = withConf(DwellConf.Fallback, "error")(intercept[UnsupportedOperationException](gd.fit(data)))
    assert(e.getMessage.contains("solver=gd"))
  }

  test("layers, weights and labels that do not suit are refused, in Spark's words") {
    assert(intercept[IllegalArgumentException](estimator.setLayers(Array(3))).getMessage.contains("layers"))
    assert(intercept[IllegalArgumentException](estimator.setLayers(Array(3, 0, 2))).getMessage.contains("layers"))
    intercept[NoSuchElementException](new MultilayerPerceptronClassifier().fit(data))
    val few = estimator.setInitialWeights(Vectors.dense(1.0, 2.0))
    assert(intercept[IllegalArgumentException](few.fit(data)).getMessage.contains("weight"))
    val wide = intercept[IllegalArgumentException](estimator.setLayers(Array(4, 2)).fit(data))
    assert(wide.getMessage.contains("features") && wide.getMessage.contains("3"), wide.getMessage)
    def refused(label: Int => Double): String =
      intercept[Exception](estimator.fit(rows(label))) match {
        case e: SparkException if e.getCause != null => e.getCause.getMessage
        case e => e.getMessage
      }
    assert(refused(_ * 2.0).contains("Labels MUST be in"))
    assert(refused(_ * 0.5).contains("Labels MUST be"))
  }
}
