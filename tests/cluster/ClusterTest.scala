package dwell.cluster

import java.nio.{ByteBuffer, ByteOrder}
import java.nio.file.{Files, Path}
import java.util.concurrent.{ConcurrentLinkedQueue, TimeUnit}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.hadoop.fs.FileUtil
import org.apache.spark.{SparkEnv, TaskContext, UnpromisedRDD}
import org.apache.spark.ml.clustering.LocalLDAModel
import org.apache.spark.ml.evaluation.RegressionEvaluator
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.tuning.ParamGridBuilder
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent, SparkListenerJobStart, SparkListenerTaskEnd, TaskLocality}
import org.apache.spark.sql.{DataFrame, SparkSession}

import dwell.CheckLong
import dwell.comm.{OnExecutors, Workers}
import dwell.comm.jobs.DriverMode
import dwell.comm.wire.VectorFormat
import dwell.data.{ColumnData, LocalData, TrainingReader}
import dwell.data.block.LabeledRow
import dwell.fit.DwellConf
import dwell.jni.{NativeBridge, NativeLoader, ResultHeader}
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.tuning.CrossValidator
import dwell.problem.Penalty
import dwell.record.RoundCompleted
import dwell.report.FitReport
import dwell.solver.cd.worker.{CdMessage, CdReply, CdStep, CoordinateMessage, Phase, PrimalSubproblem, RowsMessage, RoundRequest}

/**
 * Tests that need real executors. spark-submit runs them on a `local-cluster` with `--jars`, as a user would. Prints
 * `N passed, N failed` and ends with status 1 if anything failed.
 */
object ClusterTest extends Harness {

  def main(args: Array[String]): Unit = {
    val spark = SparkSession.builder().appName("dwell cluster tests").getOrCreate()
    waitForExecutors(spark, 2)
    val data = problem(spark)
    withoutLibrary(spark, data)
    val reference = estimator.fit(data)
    val expected = FitReport.of(reference)

    test("two executors train natively with the jar that spark-submit shipped") {
      check(expected.solver == "native", expected.solver)
      check(expected.converged && expected.numPartitions == 4, expected.toText)
      check(expected.imbalance <= 1.05, s"imbalance ${expected.imbalance}")
      check(executors(spark).size == 2, "both executors are to have worked")
    }

    test("worker state is freed on every executor after a fit") {
      checkNothingLeft(spark)
    }

    test("a fit is repeated to the bit, whatever the order of arrival") {
      val again = estimator.fit(data)
      check(again.coefficients == reference.coefficients, "coefficients differ")
    }

    test("a task that fails after its step was kept is run again and applies once") {
      val gathered = Seq(false, true).map(failing => rounds(data, failing))
      check(gathered(0).sameElements(gathered(1)), "the retried round gave another result")
    }

    test("an executor killed in mid-fit costs progress, not correctness") {
      waitForExecutors(spark, 2)
      val model = withExecutorKilled(spark)(estimator.fit(data))
      val report = FitReport.of(model)
      check(report.stateLosses > 0, report.toText)
      check(report.converged, report.toText)
      val difference = math.abs(report.objective - expected.objective)
      check(difference <= 1e-9 * expected.objective, s"objective differs by $difference")
      val distance = math.sqrt(Vectors.sqdist(model.coefficients, reference.coefficients))
      // Two models within 1e-9 of the optimal objective may differ by about the square root of 1e-9.
      check(distance < 1e-3 * Vectors.norm(reference.coefficients, 2.0), s"coefficients differ by $distance")
    }

    test("a search that loses an executor in the middle of a fit has the metrics of one that does not") {
      waitForExecutors(spark, 2)
      val penalties = new ParamGridBuilder().addGrid(estimator.regParam, Array(0.5, 0.1)).build()
      def search = new CrossValidator()
        .setEstimator(estimator)
        .setEvaluator(new RegressionEvaluator())
        .setEstimatorParamMaps(penalties)
        .setNumFolds(2)
        .setSeed(3L)
        .fit(data)
        .avgMetrics
      val expected = search
      val metrics = withExecutorKilled(spark)(search)
      val apart = metrics.zip(expected).map { case (a, b) => math.abs(a - b) }.max
      check(apart <= 1e-3 * expected.max, s"${metrics.toSeq}, not ${expected.toSeq}")
      checkNothingLeft(spark)
    }

    def logistic(
        algorithm: String,
        orientation: String,
        tol: Double,
        mode: String = "driver",
        numWorkers: Int = 4,
        data: DataFrame = data,
        regParam: Double = 0.01): FitReport = FitReport.of(
      new LogisticRegression()
        .setAlgorithm(algorithm)
        .setOrientation(orientation)
        .setAggregation(mode)
        .setRegParam(regParam)
        .setNumWorkers(numWorkers)
        .setLocalWork(1.0)
        .setTol(tol)
        .setMaxIter(200)
        .fit(binary(data)))

    survives(spark, "logistic regression, dual")(logistic("cocoa", "dual", 1e-6))
    CheckLong.only(4) {
      survives(spark, "logistic regression, primal")(logistic("cocoa", "primal", 1e-6))
      survives(spark, "linear SVC") {
        FitReport.of(
          new LinearSVC()
            .setAggregation("driver")
            .setRegParam(0.01)
            .setNumWorkers(4)
            .setLocalWork(1.0)
            .setTol(1e-3)
            .setMaxIter(200)
            .fit(binary(data)))
      }
    }

    survives(spark, "in shuffle mode")(FitReport.of(pair("shuffle").setLocalWork(1.0).fit(data)))
    survives(spark, "in a gang", noticed = _.restarts > 0)(FitReport.of(pair("gang").fit(data)))

    val turned = inAnotherOrder(data)
    survives(spark, "rows that come in another order, dual, driver mode")(
      logistic("cocoa", "dual", 1e-6, data = turned))
    survives(spark, "rows that come in another order, primal, shuffle mode") {
      logistic("cocoa", "primal", 1e-6, "shuffle", data = turned)
    }
    survives(spark, "rows that come in another order, where they are, in a gang", noticed = _.restarts > 0) {
      logistic("ma-sgd", "auto", 1e-4, "gang", numWorkers = 2, turned)
    }
    turned.unpersist()

    // So many rounds that each fit is still at work when executors are killed after its first round.
    def ofTopics(data: DataFrame): FitReport = FitReport.of(topics("shuffle").setMaxIter(60).fit(data))
    beginsAgain(spark, data, "CoCoA")(frame => logistic("cocoa", "dual", 1e-8, "gang", numWorkers = 2, frame))
    beginsAgain(spark, data, "L-BFGS")(frame => logistic("l-bfgs", "auto", 1e-12, data = frame, regParam = 1e-5))
    beginsAgain(spark, data, "topics")(ofTopics)

    val narrow = {
      val random = new scala.util.Random(5)
      val rows = Seq.fill(4000) {
        val x = Array.fill(6)(random.nextGaussian())
        (if (x(0) - x(1) + random.nextGaussian() > 0.0) 1.0 else 0.0, Vectors.dense(x))
      }
      spark.createDataFrame(spark.sparkContext.parallelize(rows, 4)).toDF("label", "features").cache()
    }

    /** `noticed`: whether report and places of the tasks are as they should be after the loss. */
    def newtonSurvives(mode: String)(noticed: (FitReport, Seq[TaskLocality.Value]) => Boolean): Unit =
      test(s"an executor killed in mid-fit costs progress, not correctness: Newton's method, $mode") {
        waitForExecutors(spark, 2)
        // Without a tolerance it stays at the optimum until it has done all rounds: so many that it is still at work when it
        // loses the executor.
        val rounds = 300
        def fit = new LogisticRegression()
          .setAlgorithm("newton")
          .setAggregation(mode)
          .setNumWorkers(2)
          .setTol(0.0)
          .setMaxIter(rounds)
          .fit(narrow)
        val expected = fit
        val (model, places) = withPlaces(spark)(withExecutorKilled(spark)(fit))
        val report = FitReport.of(model)
        check(report.algorithm == "newton" && report.rounds.last.round == rounds, report.toText)
        check(
          noticed(report, places),
          s"${places.groupBy(identity).map { case (place, same) => place -> same.size }}\n${report.toText}")
        val distance = math.sqrt(Vectors.sqdist(model.coefficients, expected.coefficients))
        check(distance <= 1e-10 * Vectors.norm(expected.coefficients, 2.0), s"coefficients differ by $distance")
        checkNothingLeft(spark)
      }
    newtonSurvives("gang")((report, _) => report.restarts > 0)
    newtonSurvives("driver") { (_, places) =>
      // Two tasks are lost at most, or read what was lost. Those of later rounds, hundreds, find the blocks where they run.
      places.count(_ != TaskLocality.PROCESS_LOCAL) <= 4
    }

    test("cleaning up does not wait for a busy executor") {
      waitForExecutors(spark, 2)
      val (began, free) = (Files.createTempFile("dwell-began-", ""), Files.createTempFile("dwell-busy-", ""))
      Files.delete(began)
      val paths = (began.toString, free.toString)
      val busy = spark.sparkContext
        .parallelize(Seq(0), 1)
        .map { _ =>
          Files.createFile(Path.of(paths._1))
          while (Files.exists(Path.of(paths._2))) Thread.sleep(20)
        }
        .countAsync()
      try {
        eventually("the task has not begun")(Files.exists(began))
        val cleaned = Files.createTempDirectory("dwell-cleaned-").toString
        def answers: Int = Path.of(cleaned).toFile.list().length
        OnExecutors.run(spark.sparkContext, 1.hour, "cleaning") { () =>
          Files.createTempFile(Path.of(cleaned), SparkEnv.get.executorId, "")
          ()
        }
        check(!busy.isCompleted, "it has waited")
        Files.delete(free)
        // The driver answers, too.
        eventually(s"$answers answers")(answers == 3)
      } finally {
        Files.deleteIfExists(free)
        busy.cancel()
      }
    }

    waitForExecutors(spark, 2)
    modesAgree(data, "gang")

    test("a model of topics is saved, and is served by a Spark that has no Dwell") {
      val model = topics("driver").fit(data).asInstanceOf[LocalLDAModel]
      val directory = Files.createTempDirectory("dwell-topics-")
      try {
        val saved = directory.resolve("model")
        model.save(saved.toString)
        val tests = Path.of(Served.getClass.getProtectionDomain.getCodeSource.getLocation.toURI)
        val submit = Path.of(sys.env("SPARK_HOME"), "bin", "spark-submit").toString
        val command =
          Seq(submit, "--master", "local[1]", "--conf", "spark.ui.enabled=false", "--class", "dwell.cluster.Served") ++
            // Most of a session of seconds would be the second compiler's.
            Seq("--driver-java-options", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC") ++
            Seq(tests, saved).map(_.toString)
        val log = directory.resolve("log")
        val process = new ProcessBuilder(command.asJava).redirectErrorStream(true).redirectOutput(log.toFile).start()
        val expected = Served.answers(spark, model)
        val ended = process.waitFor(2, TimeUnit.MINUTES)
        if (!ended) process.destroyForcibly()
        val lines = Files.readAllLines(log).asScala
        check(ended && process.exitValue() == 0, lines.mkString("\n"))
        val answers = lines.collect { case line if line.startsWith(Served.Prefix) => line.drop(Served.Prefix.length) }
        check(answers == Seq(expected), s"$answers in place of $expected")
      } finally FileUtil.fullyDelete(directory.toFile)
    }

    test("the rounds of a gang appear in Spark's list of jobs while it runs") {
      val sc = spark.sparkContext
      val lines = new ConcurrentLinkedQueue[String]()
      @volatile var fitting = true
      val watcher = new SparkListener {
        override def onJobStart(job: SparkListenerJobStart): Unit =
          Option(job.properties.getProperty("spark.job.description")).filter(_ => fitting).foreach(lines.add)
        override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
          case RoundCompleted(_, r) if r.round == 2000 => fitting = false
          case _ =>
        }
      }
      sc.addSparkListener(watcher)
      try pair("gang").setTol(0.0).setMaxIter(2000).fit(data)
      finally sc.removeSparkListener(watcher)
      val shown = lines.asScala.filter(line => line.contains(" rounds, objective ") && line.contains(", gap ")).toSeq
      check(shown.nonEmpty && shown.distinct.size == shown.size, lines.toString)
    }

    test("a gang that finds no slots gives way to driver mode, with the same bits") {
      val sc = spark.sparkContext
      spark.conf.set(DwellConf.GangPatience, "1s")
      val expected = pair("driver").setMaxIter(3).fit(data)
      val holder = sc.parallelize(0 until 1, 1).map(_ => sleepUntilCancelled()).countAsync()
      try {
        val model = pair("gang").setMaxIter(3).fit(data)
        val report = FitReport.of(model)
        check(report.aggregation == "driver" && report.aggregationReason.contains("free slot"), report.toText)
        check(model.coefficients == expected.coefficients, "other bits")
        check(!holder.isCompleted, "the slot was not held to the end")
      } finally {
        holder.cancel()
        spark.conf.unset(DwellConf.GangPatience)
      }
      val tooMany = FitReport.of(pair("gang").setNumWorkers(3).setMaxIter(3).fit(data))
      check(tooMany.aggregation == "driver" && tooMany.aggregationReason.contains("2 slots"), tooMany.toText)
    }

    finish(spark)
  }

  /** A cancelled job does not interrupt its tasks, and a task that sleeps on would keep its slot. */
  private def sleepUntilCancelled(): Unit = while (!TaskContext.get().isInterrupted()) Thread.sleep(50)

  /**
   * A fit ends within its own bound of the optimum, whether or not an executor is killed during the fit.
   *
   * @param noticed
   *   whether the report mentions the loss as it should
   */
  private def survives(spark: SparkSession, name: String, noticed: FitReport => Boolean = _.stateLosses > 0)(
      fit: => FitReport): Unit =
    test(s"an executor killed in mid-fit costs progress, not correctness: $name") {
      waitForExecutors(spark, 2)
      val expected = fit
      val report = withExecutorKilled(spark)(fit)
      check(noticed(report), s"the report does not mention it:\n${report.toText}")
      check(expected.solver == "native" && report.solver == "native", s"${expected.solver}, ${report.solver}")
      check(expected.converged, expected.toText)
      check(report.converged, report.toText)
      val difference = math.abs(report.objective - expected.objective)
      check(difference <= math.max(report.gap, expected.gap), s"objective differs by $difference\n${report.toText}")
      checkNothingLeft(spark)
    }

  /** The result of `body`, and where the tasks ran that ended meanwhile. */
  private def withPlaces[T](spark: SparkSession)(body: => T): (T, Seq[TaskLocality.Value]) = {
    val places = new ConcurrentLinkedQueue[TaskLocality.Value]()
    val watcher = new SparkListener {
      override def onTaskEnd(task: SparkListenerTaskEnd): Unit = places.add(task.taskInfo.taskLocality)
    }
    spark.sparkContext.addSparkListener(watcher)
    try {
      val result = body
      (result, places.asScala.toSeq)
    } finally spark.sparkContext.removeSparkListener(watcher)
  }

  /** Fits where the library cannot load. They come first, because a library that is loaded stays. */
  private def withoutLibrary(spark: SparkSession, data: DataFrame): Unit = {
    def fits: Seq[FitReport] = Seq(FitReport.of(estimator.fit(data)), FitReport.of(topics("driver").fit(data)))
    def checkLeft(reports: Seq[FitReport], where: String): Unit = reports.foreach { report =>
      val reason = report.reason.getOrElse("")
      check(report.solver == "spark" && reason.contains(NativeLoader.DISABLED) && reason.contains(where), report.toText)
    }

    test("a driver that cannot load the library leaves fits to Spark, before anything is read") {
      System.setProperty(NativeLoader.DISABLED, "true")
      try checkLeft(fits, "")
      finally System.clearProperty(NativeLoader.DISABLED)
      check(
        onEach(spark)(() => NativeLoader.lastFailure.isEmpty && !NativeLoader.isLoaded).forall(_._2),
        "an executor has tried")
    }

    test("executors that cannot load the library leave fits to Spark, and the next fit tries again") {
      // A second attempt of this case needs executors that have not loaded it.
      if (onEach(spark)(() => NativeLoader.isLoaded).exists(_._2)) {
        val before = executors(spark)
        before.values.foreach(kill)
        eventually("executors are not replaced")(executors(spark).keySet.intersect(before.keySet).isEmpty)
        waitForExecutors(spark, 2)
      }
      onEach(spark)(() => System.setProperty(NativeLoader.DISABLED, "true") == null)
      try {
        checkLeft(fits, "On executor ")
        spark.conf.set(DwellConf.Fallback, "error")
        try {
          val refused = Try(estimator.fit(data)).failed.map(_.getMessage).getOrElse("it is trained")
          check(refused.contains("On executor ") && refused.contains(DwellConf.Fallback), refused)
        } finally spark.conf.unset(DwellConf.Fallback)
      } finally onEach(spark)(() => System.clearProperty(NativeLoader.DISABLED) == null)
      check(fits.forall(_.solver == "native"), "the next fits do not train natively")
      checkNothingLeft(spark)
    }
  }

  /** The same rows, as after a shuffle, and in another order whenever a task computes a partition. */
  private def inAnotherOrder(data: DataFrame): DataFrame = {
    val rows = data.rdd.map(r => (r.getDouble(0), r.getAs[Vector](1))).mapPartitions { it =>
      val all = it.toIndexedSeq
      val first = (TaskContext.get().taskAttemptId() % all.size).toInt
      (all.drop(first) ++ all.take(first)).iterator
    }
    data.sparkSession.createDataFrame(new UnpromisedRDD(rows, change = false)).toDF("label", "features").cache()
  }

  /**
   * All executors are killed in mid-fit, and by then the source gives other rows. The fit ends as one that has read these rows
   * from the beginning. (If one executor lives, it may have read all the rows, and the fit rightly goes on with them.)
   */
  private def beginsAgain(spark: SparkSession, data: DataFrame, name: String)(fit: DataFrame => FitReport): Unit =
    test(s"all executors killed in mid-fit, and rows that are others now: $name") {
      waitForExecutors(spark, 2)
      val changed = Files.createTempFile("dwell-changed-", "")
      Files.delete(changed)
      val path = changed.toString
      val rows = data.rdd.map { r =>
        val (label, x) = (r.getDouble(0), r.getAs[Vector](1).toSparse)
        if (!Files.exists(Path.of(path))) (label, x: Vector)
        else (label + 1.0, Vectors.sparse(x.size, x.indices, x.values.map(v => v * v)))
      }
      val frame = spark.createDataFrame(rows).toDF("label", "features")
      try {
        val report = withExecutorKilled(spark, after = 1, all = true, first = Files.createFile(changed))(fit(frame))
        val expected = fit(frame)
        val difference = math.abs(report.objective - expected.objective)
        check(
          difference <= math.max(1e-9 * expected.objective, if (expected.gap.isNaN) 0.0 else expected.gap),
          s"objective differs by $difference\n${report.toText}")
        checkNothingLeft(spark)
      } finally Files.deleteIfExists(changed)
    }

  /**
   * The residual after three native rounds in `driver` mode. If `failing`, every task fails once after its worker has
   * kept its step.
   */
  private def rounds(data: DataFrame, failing: Boolean): Array[Double] = {
    val rows = data.rdd.map(r => LabeledRow(r.getDouble(0), 1.0, r.getAs[Vector](1)))
    val flat = TrainingReader.read(rows.map(_.toInternal), 5000, "retried rounds")
    val columns = flat.columns(2)
    val parts = columns.partitions.map[LocalData](ColumnData(_, null))
    val residual = columns.partitions.flatMap(_.labels).collect().map(_ - flat.labelMean)
    val fit = if (failing) 1L else 2L
    try {
      (0 until 3).foreach { t =>
        val request = RoundRequest(
          fit,
          t,
          1L,
          0.6,
          certificate = false,
          threads = 1,
          stamps = Array(0L, 0L),
          sigmaPrime = 2.0,
          flat.totalWeight,
          theta1 = 1.0,
          theta2 = 0.0,
          points = Array.emptyDoubleArray,
          PrimalSubproblem(Penalty(0.01, 0.01, 1.0), centred = true))
        val bytes = ByteBuffer.allocate(8 * residual.length).order(ByteOrder.LITTLE_ENDIAN)
        residual.foreach(bytes.putDouble)
        val message = CoordinateMessage(Phase.Round, request)
        val mode = new DriverMode(parts, fit, VectorFormat(ResultHeader.BYTES, residual.length))(retried(failing))
        val gathered = mode.exchange(message, bytes.array, "retried round")
        check(gathered.scalars.forall(!_.lost), "state was lost")
        residual.indices.foreach(j => residual(j) -= gathered.sum(j))
      }
      residual
    } finally {
      flat.unpersist()
      onEach(data.sparkSession)(() => NativeBridge.freeFit(fit))
    }
  }

  /**
   * One of the two tasks of a round fails in its first attempt after its work. Spark may run the second attempt on
   * any executor, and on the other one the state would count as lost. So the other task holds that executor's slot
   * meanwhile.
   */
  private def retried(failing: Boolean): Workers.Step[LocalData, CdMessage, CdReply] =
    (part, message, shared) => {
      val contribution = CdStep(part, message, shared)
      if (failing && TaskContext.get().attemptNumber() == 0) {
        val round = message match {
          case CoordinateMessage(_, request) => request.round
          case RowsMessage(_) => 0L
        }
        if (TaskContext.getPartitionId() != round % 2) Thread.sleep(2000)
        else {
          Thread.sleep(500) // until the other task has its slot
          throw new RuntimeException("made to fail after its work")
        }
      }
      contribution
    }
}
