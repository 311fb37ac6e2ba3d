package dwell.cluster

import scala.util.Random
import scala.util.control.NonFatal

import org.apache.spark.SparkEnv
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.sql.{DataFrame, SparkSession}

import dwell.ml.regression.LinearRegression
import dwell.report.FitReport

/** What programs that test on real executors have in common; they end with a line `N passed, N failed`. */
private[cluster] trait Harness {

  private var passed = 0
  private var failed = 0

  protected def test(name: String)(body: => Unit): Unit =
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

  protected def check(condition: Boolean, message: => String): Unit = if (!condition) throw new AssertionError(message)

  /** Prints the counts; the program ends with status 1 if anything failed. */
  protected def finish(spark: SparkSession): Unit = {
    println(s"$passed passed, $failed failed")
    spark.stop()
    if (failed > 0) sys.exit(1)
  }

  protected def waitForExecutors(spark: SparkSession, n: Int): Unit = {
    val end = System.nanoTime() + 120L * 1000 * 1000 * 1000
    while (spark.sparkContext.statusTracker.getExecutorInfos.length < n + 1) {
      check(System.nanoTime() < end, s"$n executors did not come up")
      Thread.sleep(100)
    }
  }

  protected def onEach[T](spark: SparkSession)(value: () => T): Map[String, T] =
    spark.sparkContext
      .parallelize(0 until 40, 40)
      .map { _ =>
        Thread.sleep(20) // long enough for both executors to get some of the tasks
        (SparkEnv.get.executorId, value())
      }
      .collect()
      .toMap

  protected def estimator: LinearRegression =
    new LinearRegression()
      .setAggregation("driver")
      .setRegParam(1.0)
      .setNumWorkers(4)
      .setLocalWork(2.0)
      .setTol(1e-9)
      .setMaxIter(400)

  /** A fit by one task on each executor, of many short rounds. */
  protected def pair(aggregation: String): LinearRegression =
    estimator.setAggregation(aggregation).setNumWorkers(2).setLocalWork(0.05).setMaxIter(5000)

  /** Sparse, power-law features, wide enough for every worker to have something to do. */
  protected def problem(spark: SparkSession): DataFrame = {
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
   * The same fit in every mode of aggregation.
   *
   * @param expected
   *   the mode that `auto` and `gang` are to end with on this cluster
   */
  protected def modesAgree(data: DataFrame, expected: String): Unit = {
    val byDriver = pair("driver").setMaxIter(10).fit(data)
    for (mode <- Seq("shuffle", "auto", "gang")) test(s"aggregation $mode: the bits of driver mode") {
      val model = pair(mode).setMaxIter(10).fit(data)
      val report = FitReport.of(model)
      val used = if (mode == "shuffle") mode else expected
      check(report.aggregation == used && report.solver == "native", report.toText)
      check(model.coefficients == byDriver.coefficients && model.intercept == byDriver.intercept, "other bits")
    }
  }
}
