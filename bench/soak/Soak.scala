package dwell.cluster

import java.nio.file.{Files, Paths}
import java.util.concurrent.{Executors, TimeUnit, TimeoutException}

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.SparkException
import org.apache.spark.sql.{DataFrame, SparkSession}

import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression
import dwell.report.FitReport

/**
 * Fits of every kind one after another, in modes of aggregation by chance, while executors are killed at random times. Each
 * has to end with the objective of an undisturbed fit, or with Spark's exception where Spark gives the job up; at the end
 * nothing may be left. Run by spark-submit on a `local-cluster`. Arguments: minutes, seed, and the JSON file that the result
 * is written to.
 */
object Soak extends Harness {

  private val Modes = Seq("driver", "shuffle", "gang", "auto")

  /** Longer than any fit takes, with all that can happen to it. */
  private val LimitSeconds = 180L

  /** Between two kills, in milliseconds: a fit that takes much longer than this loses coordinates as fast as it finds them. */
  private val LeastPause = 3000
  private val MostPause = 30000

  /** @param fit in a mode of aggregation */
  private final case class Kind(name: String, fit: String => FitReport)

  private final case class Fit(kind: Kind, mode: String, seconds: Double, outcome: Either[Throwable, FitReport])

  def main(args: Array[String]): Unit = {
    val Array(minutes, seed, output) = args
    val spark = SparkSession.builder().appName("dwell soak").getOrCreate()
    waitForExecutors(spark, 2)
    val kinds = kindsOn(problem(spark))
    val expected = kinds.map(kind => kind -> kind.fit("driver")).toMap
    expected.values.foreach(report => check(report.converged && report.solver == "native", report.toText))
    val heap = usedHeap()
    val fits = mutable.ArrayBuffer.empty[Fit]
    val killer = new Killer(seed.toLong)
    killer.start()
    try {
      val random = new Random(seed.toLong)
      val end = System.nanoTime() + (minutes.toDouble * 60e9).toLong
      while (System.nanoTime() < end) {
        val (kind, mode) = (kinds(random.nextInt(kinds.size)), Modes(random.nextInt(Modes.size)))
        waitForExecutors(spark, 2) // or every gang that comes after a kill would give way to driver mode at once
        val fit = run(spark, kind, mode)
        fits += fit
        test(f"${fits.size}%4d: ${kind.name}, $mode: ${describe(fit)}")(checkOutcome(fit, expected(kind)))
      }
    } finally killer.finish()
    waitForExecutors(spark, 2)
    test("nothing is left behind")(checkNothingLeft(spark))
    val growth = usedHeap() - heap
    // Spark keeps what its UI could show of a thousand jobs and stages, and this program the reports of its fits.
    test("the driver's heap has not grown")(check(growth < (200L << 20), s"by $growth bytes"))
    write(output, minutes, seed, fits.toSeq, killer.kills, growth)
    finish(spark)
  }

  private def kindsOn(data: DataFrame): Seq[Kind] = {
    val classes = binary(data)
    def linear(elasticNet: Double, orientation: String)(mode: String) = FitReport.of(
      new LinearRegression()
        .setRegParam(0.5)
        .setElasticNetParam(elasticNet)
        .setOrientation(orientation)
        .setAggregation(mode)
        .setNumWorkers(2)
        .setLocalWork(0.2)
        .setTol(1e-7)
        .setMaxIter(5000)
        .fit(data))
    def logistic(algorithm: String, orientation: String, tol: Double)(mode: String) = FitReport.of(
      new LogisticRegression()
        .setAlgorithm(algorithm)
        .setRegParam(0.01)
        .setOrientation(orientation)
        .setAggregation(mode)
        .setNumWorkers(2)
        .setLocalWork(0.5)
        .setTol(tol)
        .setMaxIter(2000)
        .fit(classes))
    def svc(mode: String) = FitReport.of(
      new LinearSVC()
        .setRegParam(0.01)
        .setAggregation(mode)
        .setNumWorkers(2)
        .setLocalWork(1.0)
        .setTol(1e-3)
        .setMaxIter(2000)
        .fit(classes))
    Seq(
      Kind("ridge", linear(0.0, "primal")),
      Kind("elastic net", linear(0.3, "primal")),
      Kind("ridge, dual", linear(0.0, "dual")),
      Kind("logistic, primal", logistic("cocoa", "primal", 1e-5)),
      Kind("logistic, dual", logistic("cocoa", "dual", 1e-5)),
      Kind("linear SVC", svc))
  }

  private val threads = Executors.newCachedThreadPool { (body: Runnable) =>
    val thread = new Thread(body, "soak")
    thread.setDaemon(true)
    thread
  }

  private def run(spark: SparkSession, kind: Kind, mode: String): Fit = {
    val start = System.nanoTime()
    val future = threads.submit(() => kind.fit(mode))
    val outcome =
      try Right(future.get(LimitSeconds, TimeUnit.SECONDS))
      catch {
        case e: java.util.concurrent.ExecutionException => Left(e.getCause)
        case e: TimeoutException =>
          spark.sparkContext.cancelAllJobs()
          Left(e)
      }
    Fit(kind, mode, (System.nanoTime() - start) * 1e-9, outcome)
  }

  private def describe(fit: Fit): String = fit.outcome match {
    case Right(r) =>
      f"${fit.seconds}%.1f s, ${r.rounds.last.round} rounds, ${r.stateLosses} losses, ${r.restarts} restarts"
    case Left(e) => f"${fit.seconds}%.1f s, ${e.getClass.getSimpleName}"
  }

  private def checkOutcome(fit: Fit, expected: FitReport): Unit = fit.outcome match {
    case Right(report) =>
      check(report.converged && report.solver == "native", report.toText)
      val difference = math.abs(report.objective - expected.objective)
      check(difference <= math.max(report.gap, expected.gap), s"objective differs by $difference\n${report.toText}")
    case Left(e) => check(givenUp(e), e.toString)
  }

  /** Whether Spark has given a job up. */
  private def givenUp(e: Throwable): Boolean = e match {
    case e: SparkException => e.getMessage.startsWith("Job aborted")
    case _ => false
  }

  /** Kills the executors of this `local-cluster`, which are processes below this one. */
  private final class Killer(seed: Long) extends Thread("killer") {
    private val random = new Random(seed)
    @volatile private var finished = false
    @volatile var kills = 0

    override def run(): Unit = while (!finished) {
      pause(LeastPause + random.nextInt(MostPause - LeastPause))
      val executors = ProcessHandle.current().descendants().iterator().asScala.filter(isExecutor).toSeq
      // Where none is left but one, Spark may take a job for one that cannot be done.
      if (!finished && executors.size > 1 && executors(random.nextInt(executors.size)).destroyForcibly()) kills += 1
    }

    def finish(): Unit = {
      finished = true
      join()
    }

    private def pause(millis: Int): Unit = (0 until millis by 100).foreach(_ => if (!finished) Thread.sleep(100))

    private def isExecutor(process: ProcessHandle): Boolean =
      process.info().arguments().map[Boolean](_.exists(_.endsWith("CoarseGrainedExecutorBackend"))).orElse(false)
  }

  private def usedHeap(): Long = {
    System.gc()
    val runtime = Runtime.getRuntime
    runtime.totalMemory() - runtime.freeMemory()
  }

  private def write(
      output: String,
      minutes: String,
      seed: String,
      fits: Seq[Fit],
      kills: Int,
      heapGrowth: Long): Unit = {
    def summary(name: String, some: Seq[Fit]) = {
      val reports = some.flatMap(_.outcome.toOption)
      s"""  {"fits": "$name", "number": ${some.size}, "givenUpBySpark": ${some.count(_.outcome.isLeft)}, """ +
        s""""stateLosses": ${reports.map(_.stateLosses).sum}, "restarts": ${reports.map(_.restarts).sum}, """ +
        s""""inAnotherMode": ${some.count(f =>
            f.outcome.exists(r => f.mode != "auto" && r.aggregation != f.mode))}, """ +
        s""""longestSeconds": ${some.map(_.seconds).maxOption.getOrElse(0.0)}}"""
    }
    val rows = (summary("all", fits) +: Modes.map(mode => summary(mode, fits.filter(_.mode == mode)))) ++
      fits.map(_.kind.name).distinct.sorted.map(kind => summary(kind, fits.filter(_.kind.name == kind)))
    Files.writeString(
      Paths.get(output),
      s"""{"minutes": $minutes, "seed": $seed, "kills": $kills, "failed": $failures, "driverHeapGrowth": $heapGrowth,
         | "summary": [
         |${rows.mkString(",\n")}
         |]}
         |""".stripMargin)
    ()
  }
}
