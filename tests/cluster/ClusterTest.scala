package dwell.cluster

import java.nio.{ByteBuffer, ByteOrder}
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}

import scala.util.Random
import scala.util.control.NonFatal

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent, SparkListenerExecutorRemoved}
import org.apache.spark.sql.{DataFrame, SparkSession}

import dwell.comm.{Contribution, DriverMode}
import dwell.data.{Flattener, LabeledRow}
import dwell.jni.NativeBridge
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression
import dwell.report.{FitReport, RoundCompleted}
import dwell.solver._

/**
 * What only real executors can show. Run by spark-submit on a `local-cluster` with `--jars` as a user would; prints
 * `N passed, N failed` and ends with status 1 if anything failed.
 */
object ClusterTest {

  private var passed = 0
  private var failed = 0

  private def test(name: String)(body: => Unit): Unit =
    try {
      body
      passed += 1
      println(s"ok      $name")
    } catch {
      case e @ (NonFatal(_) | _: AssertionError) =>
        failed += 1
        println(s"FAILED  $name: $e")
        e.getStackTrace.take(12).foreach(frame => println(s"          $frame"))
    }

  private def check(condition: Boolean, message: => String): Unit = if (!condition) throw new AssertionError(message)

  def main(args: Array[String]): Unit = {
    val spark = SparkSession.builder().appName("dwell cluster tests").getOrCreate()
    waitForExecutors(spark, 2)
    val data = problem(spark)
    val reference = estimator.fit(data)
    val expected = FitReport.of(reference)

    test("two executors train natively with the jar that spark-submit shipped") {
      check(expected.solver == "native", expected.solver)
      check(expected.converged && expected.numPartitions == 4, expected.toText)
      check(expected.imbalance <= 1.05, s"imbalance ${expected.imbalance}")
      check(executors(spark).size == 2, "both executors are to have worked")
    }

    test("worker state is freed on every executor after a fit") {
      check(stateBytes(spark).values.sum == 0L, stateBytes(spark).toString)
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
      val model = withExecutorKilled(spark)(estimator.fit(data))(FitReport.of)
      val report = FitReport.of(model)
      check(report.converged, report.toText)
      val difference = math.abs(report.objective - expected.objective)
      check(difference <= 1e-9 * expected.objective, s"objective differs by $difference")
      val distance = math.sqrt(Vectors.sqdist(model.coefficients, reference.coefficients))
      // Two models within 1e-9 of the optimal objective may be about the square root of that apart.
      check(distance < 1e-3 * Vectors.norm(reference.coefficients, 2.0), s"coefficients differ by $distance")
    }

    def logistic(algorithm: String, orientation: String, tol: Double): FitReport = FitReport.of(
      new LogisticRegression()
        .setAlgorithm(algorithm)
        .setOrientation(orientation)
        .setRegParam(0.01)
        .setNumWorkers(4)
        .setLocalWork(1.0)
        .setTol(tol)
        .setMaxIter(200)
        .fit(binary(data)))

    for (orientation <- Seq("primal", "dual")) survives(spark, s"logistic regression, $orientation") {
      logistic("cocoa", orientation, 1e-6)
    }
    survives(spark, "mini-batch SCD")(logistic("mini-batch-scd", "dual", 1e-2))
    // Its workers have no state that could be lost.
    survives(spark, "mini-batch SGD", stateIsLost = false)(logistic("mini-batch-sgd", "dual", 0.1))
    survives(spark, "linear SVC") {
      FitReport.of(
        new LinearSVC()
          .setRegParam(0.01)
          .setNumWorkers(4)
          .setLocalWork(1.0)
          .setTol(1e-3)
          .setMaxIter(200)
          .fit(binary(data)))
    }

    test("thirty fits one after another leave nothing behind") {
      waitForExecutors(spark, 2)
      val persistedBefore = spark.sparkContext.getPersistentRDDs.size
      (1 to 30).foreach(_ => estimator.setMaxIter(2).fit(data))
      check(stateBytes(spark).values.sum == 0L, stateBytes(spark).toString)
      check(spark.sparkContext.getPersistentRDDs.size == persistedBefore, "cached data was left behind")
    }

    println(s"$passed passed, $failed failed")
    spark.stop()
    if (failed > 0) sys.exit(1)
  }

  /** A fit ends within its own bound of the optimum, whether or not an executor is killed in its course. */
  private def survives(spark: SparkSession, name: String, stateIsLost: Boolean = true)(fit: => FitReport): Unit =
    test(s"an executor killed in mid-fit costs progress, not correctness: $name") {
      waitForExecutors(spark, 2)
      val expected = fit
      val report = withExecutorKilled(spark, stateIsLost)(fit)(identity)
      check(expected.solver == "native" && report.solver == "native", s"${expected.solver}, ${report.solver}")
      check(expected.converged, expected.toText)
      check(report.converged, report.toText)
      val difference = math.abs(report.objective - expected.objective)
      check(difference <= math.max(report.gap, expected.gap), s"objective differs by $difference\n${report.toText}")
    }

  /** What `fit` gives when the executor with the lowest process id is killed after its third round. */
  private def withExecutorKilled[M](spark: SparkSession, stateIsLost: Boolean = true)(fit: => M)(
      reportOf: M => FitReport): M = {
    val removed = new AtomicInteger()
    val victim = new AtomicReference[java.lang.Long](executors(spark).values.min)
    val killer = new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
        case RoundCompleted(_, r) if r.round == 3 =>
          Option(victim.getAndSet(null)).foreach { pid =>
            check(ProcessHandle.of(pid).get.destroyForcibly(), s"could not kill $pid")
          }
        case _ =>
      }
      override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit = removed.incrementAndGet()
    }
    spark.sparkContext.addSparkListener(killer)
    val result =
      try fit
      finally spark.sparkContext.removeSparkListener(killer)
    check(removed.get >= 1, "no executor was lost")
    if (stateIsLost) check(reportOf(result).stateLosses > 0, s"no state was lost:\n${reportOf(result).toText}")
    result
  }

  /** The same rows with a label of two classes, one of them rarer. */
  private def binary(data: DataFrame): DataFrame =
    data.select((data("label") > 4.5).cast("double").as("label"), data("features"))

  private def estimator: LinearRegression =
    new LinearRegression().setRegParam(1.0).setNumWorkers(4).setLocalWork(2.0).setTol(1e-9).setMaxIter(400)

  /** Sparse, power-law features, wide enough for every worker to have something to do. */
  private def problem(spark: SparkSession): DataFrame = {
    val rows = spark.sparkContext.parallelize(0 until 3000, 6).map { j =>
      val random = new Random(j)
      val ids = Seq.fill(40)((5000 * math.pow(random.nextDouble(), 3.0)).toInt).distinct.sorted
      val x = Vectors.sparse(5000, ids.map(i => (i, 1.0 + random.nextInt(4))))
      (ids.filter(_ % 7 == 0).size + 0.3 * random.nextGaussian(), x: Vector)
    }
    val data = spark.createDataFrame(rows).toDF("label", "features").cache()
    data.count()
    data
  }

  /**
   * The residual after three native rounds through the `driver` mode, in which every task fails once after its step was
   * kept if `failing`.
   */
  private def rounds(data: DataFrame, failing: Boolean): Array[Double] = {
    val rows = data.rdd.map(r => LabeledRow(r.getDouble(0), 1.0, r.getAs[Vector](1)))
    val flat = Flattener.read(rows, 5000, "retried rounds")
    val columns = flat.columns(2)
    val parts = columns.partitions.map[LocalData](ColumnData(_, null))
    val residual = flat.labels.map(_ - flat.labelMean)
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
          batch = false,
          stamps = Array(0L, 0L),
          sigmaPrime = 2.0,
          flat.totalWeight,
          theta1 = 1.0,
          theta2 = 0.0,
          points = Array.emptyDoubleArray,
          PrimalSubproblem(0.01, 0.01, 1.0, centred = true))
        val bytes = ByteBuffer.allocate(8 * residual.length).order(ByteOrder.LITTLE_ENDIAN)
        residual.foreach(bytes.putDouble)
        val message =
          RoundMessage(Phase.Round, request, bytes.array, null, SolverSelection("native", fallbackIsError = true))
        val gathered =
          DriverMode.exchange(parts, message, ResultLayout.HeaderBytes, residual.length)(retried(failing))
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
   * One of the two tasks of a round fails in its first attempt after its work. Spark may run the second attempt anywhere, so
   * the other task holds the other executor's slot meanwhile: on another executor the state would count as lost.
   */
  private def retried(failing: Boolean): (LocalData, RoundMessage) => Contribution[WorkerReply] =
    (part, message) => {
      val contribution = WorkerStep(part, message)
      if (failing && TaskContext.get().attemptNumber() == 0) {
        if (TaskContext.getPartitionId() != message.request.round % 2) Thread.sleep(2000)
        else {
          Thread.sleep(500) // until the other task has its slot
          throw new RuntimeException("made to fail after its work")
        }
      }
      contribution
    }

  private def waitForExecutors(spark: SparkSession, n: Int): Unit = {
    val end = System.nanoTime() + 120L * 1000 * 1000 * 1000
    while (spark.sparkContext.statusTracker.getExecutorInfos.length < n + 1) {
      check(System.nanoTime() < end, s"$n executors did not come up")
      Thread.sleep(100)
    }
  }

  /** Executor id to process id. */
  private def executors(spark: SparkSession): Map[String, java.lang.Long] =
    onEach(spark)(() => java.lang.Long.valueOf(ProcessHandle.current().pid()))

  /** Bytes of worker state by executor. */
  private def stateBytes(spark: SparkSession): Map[String, Long] = onEach(spark)(() => NativeBridge.stateBytes())

  private def onEach[T](spark: SparkSession)(value: () => T): Map[String, T] =
    spark.sparkContext
      .parallelize(0 until 40, 40)
      .map { _ =>
        Thread.sleep(20) // long enough for both executors to get some of the tasks
        (SparkEnv.get.executorId, value())
      }
      .collect()
      .toMap
}
