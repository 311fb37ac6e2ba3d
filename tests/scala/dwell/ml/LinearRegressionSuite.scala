package dwell.ml

import scala.util.{Random, Try}

import org.apache.spark.ml.{Pipeline, PipelineModel}
import org.apache.spark.ml.evaluation.RegressionEvaluator
import org.apache.spark.ml.feature.VectorAssembler
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression, LinearRegressionModel}
import org.apache.spark.ml.tuning.{CrossValidator, ParamGridBuilder}
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.sql.DataFrame

import dwell.{Listened, SparkSuite}
import dwell.fit.DwellConf
import dwell.jni.NativeBridge
import dwell.ml.regression.LinearRegression
import dwell.record.RoundCompleted
import dwell.report.{FitReport, LinearFitReport}

/** The estimator of linear regression through Spark ML's interface. */
class LinearRegressionSuite extends SparkSuite {

  private lazy val data: DataFrame = {
    val random = new Random(3)
    val rows = Seq.fill(200) {
      val x = Array.fill(6)(random.nextGaussian())
      (2.0 * x(0) - x(1) + 0.5 + 0.3 * random.nextGaussian(), Vectors.dense(x): Vector)
    }
    spark.createDataFrame(rows).toDF("label", "features").repartition(2).cache()
  }

  private def estimator: LinearRegression = new LinearRegression().setRegParam(0.1)

  test("fit returns Spark's own model with a training summary and a report") {
    val rounds = new java.util.concurrent.ConcurrentLinkedQueue[RoundCompleted]()
    val listener = new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
        case r: RoundCompleted => rounds.add(r)
        case _ =>
      }
    }
    val model = Listened.by(sc, listener)(estimator.setAlgorithm("cocoa").setNumWorkers(2).fit(data))
    assert(model.getClass == classOf[LinearRegressionModel])
    val summary = model.summary
    val stock = new SparkLinearRegression().setRegParam(0.1).fit(data).summary
    // Dwell may stop at 1e-6 above the optimal objective, which changes these two by its square root.
    assert(math.abs(summary.r2 - stock.r2) < 1e-3)
    assert(math.abs(summary.rootMeanSquaredError - stock.rootMeanSquaredError) < 1e-3)
    assert(summary.residuals.count() == 200)
    assert(summary.totalIterations == summary.objectiveHistory.length - 1)
    assert(summary.objectiveHistory.sliding(2).forall(p => p(1) <= p(0) * (1 + 1e-12)))

    val report = FitReport.of(model)
    assert(report.solver == "native" && report.converged && report.numPartitions == 2)
    assert(report.numRows == 200 && report.numFeatures == 6 && report.nonzeros == 1200)
    assert(report.gap >= 0.0 && report.relativeGap <= 1e-6)
    assert(report.rounds.size == summary.totalIterations + 1)
    assert(report.drift < 1e-12)
    assert(report.stateBytes > 0 && report.stateLosses == 0)
    report.rounds.tail.foreach { r =>
      assert(r.workerSeconds > 0.0 && r.driverSeconds > 0.0 && r.overheadSeconds >= 0.0 && r.gap >= 0.0)
      assert(math.abs(r.seconds - r.workerSeconds - r.overheadSeconds - r.driverSeconds) <= 1e-3 + 0.01 * r.seconds)
    }
    val epochSeconds = report.rounds.map(_.workerSeconds).sum / report.rounds.map(_.localWork).sum
    assert(math.abs(report.flattenEpochs.get * epochSeconds - report.flattenSeconds) < 1e-9 * report.flattenSeconds)
    val linear = report.asInstanceOf[LinearFitReport]
    assert(linear.copy(facts = linear.facts.copy(rounds = report.rounds.take(1))).flattenEpochs.isEmpty)
    val text = report.toText
    assert(text.linesIterator.size == 12 + report.rounds.size && text.contains("converged"))
    val phases = report.phases
    assert(text.linesIterator.next() == phases.toLine)
    assert(Seq(phases.reading, phases.setUp, phases.model, phases.rest).forall(_ > 0.0) && phases.spark == 0.0)
    assert(math.abs(phases.rounds - report.rounds.map(_.seconds).sum) < 1e-9)
    assert(rounds.size == summary.totalIterations)
  }

  test("in a Pipeline, under CrossValidator, and with fit(dataset, paramMaps)") {
    val columns = data
      .select(org.apache.spark.ml.functions.vector_to_array(data("features")).as("a"), data("label"))
      .selectExpr((0 until 6).map(i => s"a[$i] as f$i") :+ "label": _*)
    val assembler = new VectorAssembler().setInputCols((0 until 6).map(i => s"f$i").toArray).setOutputCol("features")
    val ours = estimator
    val pipeline = new Pipeline().setStages(Array(assembler, ours))
    val fitted: PipelineModel = pipeline.fit(columns)
    val stage = fitted.stages.last.asInstanceOf[LinearRegressionModel]
    assert(FitReport.of(stage).solver == "native")
    assert(Vectors.sqdist(stage.coefficients, estimator.fit(data).coefficients) < 1e-8)

    val grid = new ParamGridBuilder().addGrid(ours.regParam, Array(0.01, 10.0)).build()
    val cv = new CrossValidator()
      .setEstimator(pipeline)
      .setEvaluator(new RegressionEvaluator())
      .setEstimatorParamMaps(grid)
      .setNumFolds(2)
      .setSeed(1L)
    val best = cv.fit(columns).bestModel.asInstanceOf[PipelineModel].stages.last.asInstanceOf[LinearRegressionModel]
    assert(best.getRegParam == 0.01)

    val models = ours.fit(data, Seq(ParamMap(ours.regParam -> 0.01), ParamMap(ours.regParam -> 10.0)))
    assert(models.map(_.getRegParam) == Seq(0.01, 10.0))
    assert(models.forall(FitReport.of(_).converged))
    assert(Vectors.norm(models(1).coefficients, 2.0) < Vectors.norm(models(0).coefficients, 2.0))
  }

  test("a constant label: Spark's model, without rounds") {
    val constant = data.withColumn("label", org.apache.spark.sql.functions.lit(3.5))
    val zero = data.withColumn("label", org.apache.spark.sql.functions.lit(0.0))
    for {
      solver <- Seq("auto", "l-bfgs")
      (frame, intercept, regParam) <- Seq((constant, true, 0.1), (zero, false, 0.1), (constant, false, 0.0))
    } {
      val (model, expected) =
        Both.linear(frame)(_.setSolver(solver).setFitIntercept(intercept).setRegParam(regParam))
      assert(math.sqrt(Vectors.sqdist(model.coefficients, expected.coefficients)) <= 1e-5)
      assert(math.abs(model.intercept - expected.intercept) <= 1e-5 && model.hasSummary)
      val report = FitReport.of(model)
      assert(report.solver == "native" && (report.algorithm == "none") == (intercept || frame == zero), report.toText)
      if (report.algorithm == "none") {
        assert(model.summary.objectiveHistory.toSeq == expected.summary.objectiveHistory.toSeq)
        assert(report.converged && report.gap == 0.0 && report.toText.contains("none: all labels are the same"))
      }
    }
    // If Spark throws an exception, Dwell throws the same.
    val noIntercept = intercept[IllegalArgumentException](estimator.setFitIntercept(false).fit(constant))
    assert(noIntercept.getMessage.contains("standard deviation of the label is zero"))
  }

  test("an algorithm that does not train the model is refused") {
    for (algorithm <- Seq("cocoa", "ma-sgd")) {
      val e = intercept[IllegalArgumentException](estimator.setLoss("huber").setAlgorithm(algorithm).fit(data))
      assert(e.getMessage.contains(s"algorithm=$algorithm") && e.getMessage.contains("the huber loss has a scale"))
      assert(e.getMessage.contains("Use algorithm auto"))
    }
  }

  test("a setting of the session that makes no sense is refused by its name") {
    Seq(
      (DwellConf.GangPatience, "soon", "'soon'"),
      ("spark.dwell.shareData", "true", "search with dwell.ml.tuning.CrossValidator"),
      ("spark.dwell.aggregation", "gang", "set the Param aggregation")).foreach { case (key, value, told) =>
      withConf(key, value) {
        val e = intercept[IllegalArgumentException](estimator.fit(data))
        assert(e.getMessage.contains(key) && e.getMessage.contains(told), e.getMessage)
      }
    }
  }

  test("without a penalty, algorithm=cocoa solves natively to the least-squares solution") {
    val model = new LinearRegression().setAlgorithm("cocoa").setLocalWork(20).setTol(1e-10).fit(data)
    val stock = new SparkLinearRegression().setSolver("normal").fit(data)
    assert(FitReport.of(model).solver == "native" && FitReport.of(model).converged)
    assert(math.sqrt(Vectors.sqdist(model.coefficients, stock.coefficients)) < 1e-7)
    assert(math.abs(model.intercept - stock.intercept) < 1e-7)
  }

  test("lasso above the largest useful penalty has no coefficient, and says so with gap 0") {
    val model = new LinearRegression().setRegParam(100.0).setElasticNetParam(1.0).fit(data)
    assert(model.coefficients.numNonzeros == 0)
    assert(FitReport.of(model).relativeGap <= 1e-12)
  }

  test("maxIter and tol are honoured") {
    val two = estimator.setAlgorithm("cocoa").setMaxIter(2).setTol(0.0).setNumWorkers(2).setLocalWork(0.5).fit(data)
    assert(two.summary.totalIterations == 2 && !FitReport.of(two).converged)
    val zero = estimator.setSolver("l-bfgs").setMaxIter(0).fit(data)
    assert(zero.coefficients.numNonzeros == 0 && zero.summary.totalIterations == 0)
    val loose = estimator.setNumWorkers(2).setLocalWork(0.3).setTol(1e-2).fit(data)
    val tight = estimator.setNumWorkers(2).setLocalWork(0.3).setTol(1e-10).fit(data)
    assert(loose.summary.totalIterations < tight.summary.totalIterations)
    assert(FitReport.of(loose).relativeGap <= 1e-2 && FitReport.of(tight).relativeGap <= 1e-10)
  }

  test("worker state is freed after a fit and after a failure") {
    assertNoState()
    estimator.setNumWorkers(2).fit(data)
    assertNoState()
    val group = "to be cancelled"
    spark.sparkContext.setJobGroup(group, "a fit that never ends", interruptOnCancel = false)
    try {
      val failure = interruptedFit(spark.sparkContext.cancelJobGroup(group))
      assert(failure.getMessage.contains("cancel"))
    } finally spark.sparkContext.clearJobGroup()
    eventually(assertNoState())
  }

  test("worker state is freed when the SparkContext stops in mid-fit") {
    val doomed = spark
    interruptedFit(doomed.stop())
    eventually(assertNoState())
    // The suites that follow get another session, whose fits work as before.
    assert(!spark.sparkContext.isStopped)
  }

  private def assertNoState(): Unit =
    assert(NativeBridge.stateBytes() == 0L && NativeBridge.stateEntries() == 0L)

  /** Starts a long fit, interrupts it once it has worker state until it ends, and returns its exception. */
  private def interruptedFit(interrupt: => Unit): Throwable = {
    // Features that are nearly one take coordinate descent millions of rounds.
    val random = new Random(7)
    val rows = Seq.fill(200) {
      val common = random.nextGaussian()
      val x = Array.fill(6)(common + 1e-3 * random.nextGaussian())
      (x(0) - x(1) + random.nextGaussian(), Vectors.dense(x): Vector)
    }
    val data = spark.createDataFrame(rows).toDF("label", "features").repartition(2).cache()
    val long =
      new LinearRegression()
        .setAlgorithm("cocoa")
        .setRegParam(1e-9)
        .setNumWorkers(2)
        .setLocalWork(0.2)
        .setTol(0.0)
        .setMaxIter(1000000)
    @volatile var outcome: Try[LinearRegressionModel] = null
    // The thread inherits the job group.
    val thread = new Thread(() => outcome = Try(long.fit(data)))
    thread.start()
    // Not by an event of a round: the listener bus may still hold events of the fit before.
    eventually(assert(NativeBridge.stateBytes() > 0L))
    eventually {
      // A cancellation between two rounds finds no job to cancel.
      interrupt
      thread.join(50)
      assert(!thread.isAlive)
    }
    assert(outcome.isFailure)
    outcome.failed.get
  }
}
