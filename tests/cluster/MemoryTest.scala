package dwell.cluster

import org.apache.spark.ml.{Estimator, Model}
import org.apache.spark.sql.{DataFrame, SparkSession}

import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.clustering.LDA
import dwell.ml.regression.LinearRegression
import dwell.report.FitReport

/**
 * Fits of data that is large for its executors, which have Spark's default memory, as the driver has: a fit ends, and no task of
 * it fails. Arguments: `--list` prints the names of the cases, each in a line of its own; `--case NAME` runs this one; a text runs
 * those whose names contain it.
 */
object MemoryTest extends Harness {

  private final case class Case(
      name: String,
      data: SparkSession => DataFrame,
      fit: DataFrame => Model[_],
      cached: Boolean = false)

  private val Features = 1 << 20

  private val dense400 = (spark: SparkSession) => GeneratedData.dense(spark, 100000L, 400)
  private val dense28 = (spark: SparkSession) => GeneratedData.dense(spark, 1000000L, 28)
  private val sorted = (spark: SparkSession) => dense28(spark).orderBy("class")
  private val hashed = (spark: SparkSession) => GeneratedData.hashed(spark, 500000L, Features)
  private val documents = (spark: SparkSession) => GeneratedData.documents(spark, 200000L, 50000, 60)

  /** For a look with less disk than 200 take. */
  private val Millions = sys.env.getOrElse("DWELL_MEMORY_MILLIONS", "200").toLong
  private val tall = (spark: SparkSession) => GeneratedData.small(spark, Millions * 1000000L, 10, 64)

  private val cases = Seq(
    Case("dense 100,000 x 400, Newton's method", dense400, gradients("newton")),
    Case("dense 1,000,000 x 28, Newton's method", dense28, gradients("newton")),
    Case("dense 100,000 x 400, primal", dense400, logistic("primal")),
    Case("dense 100,000 x 400, dual", dense400, hinge),
    Case("dense 100,000 x 400, l-bfgs", dense400, gradients("l-bfgs")),
    Case("dense 1,000,000 x 28, primal", dense28, squared),
    Case("dense 1,000,000 x 28, dual", dense28, hinge),
    Case("dense 1,000,000 x 28, model averaging", dense28, gradients("ma-sgd")),
    Case("dense 1,000,000 x 28 sorted by class, model averaging", sorted, gradients("ma-sgd")),
    Case("hashed 500,000 x 1,048,576, primal", hashed, logistic("primal")),
    Case("hashed 500,000 x 1,048,576, dual", hashed, logistic("dual")),
    Case("hashed 500,000 x 1,048,576, l-bfgs", hashed, gradients("l-bfgs")),
    Case("200,000 documents of 50,000 words", documents, topics))
    .flatMap(c => Seq(c, c.copy(name = s"${c.name}, cached", cached = true))) ++ Seq(
    Case(
      "3,000,000 hashed features over 1,000 source partitions, dual",
      GeneratedData.hashed(_, 500000L, 3000000, 1000),
      logistic("dual")),
    Case(
      "3,000,000 hashed features over 1,000 source partitions, primal",
      GeneratedData.hashed(_, 500000L, 3000000, 1000),
      logistic("primal")),
    Case("64 workers, dual", hashed, fit(logisticRegression.setOrientation("dual").setNumWorkers(64))),
    Case("64 workers, primal", hashed, fit(logisticRegression.setOrientation("primal").setNumWorkers(64))),
    Case("64 workers, l-bfgs", hashed, fit(logisticRegression.setAlgorithm("l-bfgs").setNumWorkers(64))),
    Case(s"$Millions million rows x 10, l-bfgs", tall, gradients("l-bfgs")),
    Case(s"$Millions million rows x 10", tall, fit(logisticRegression)))

  override protected def limitSeconds: Double = 600.0

  def main(args: Array[String]): Unit = args match {
    case Array("--list") =>
      println("cases:")
      cases.foreach(c => println(c.name))
      println("end of cases")
    case Array("--case", name) =>
      require(cases.exists(_.name == name), s"There is no case '$name': --list prints their names")
      run(cases.filter(_.name == name))
    case _ => run(cases.filter(_.name.contains(args.headOption.getOrElse(""))))
  }

  private def run(asked: Seq[Case]): Unit = {
    val spark = SparkSession
      .builder()
      .appName("dwell memory tests")
      .config("spark.executor.metrics.pollingInterval", "100ms")
      // The whole heap is there from the start. The rest of the process is outside of it.
      .config("spark.executor.extraJavaOptions", "-Xms1g -XX:+AlwaysPreTouch")
      .config("spark.dwell.fallback", "error")
      .getOrCreate()
    waitForExecutors(spark, 2)
    asked.foreach(c => test(c.name)(run(spark, c)))
    finish(spark)
  }

  private def run(spark: SparkSession, c: Case): Unit = {
    val data = c.data(spark)
    try {
      if (c.cached) {
        data.cache()
        data.foreach(_ => ())
      }
      val before = outside(spark).map(_.now).max
      val (report, watch) = MemoryWatch.during(spark.sparkContext)(FitReport.of(c.fit(data)))
      val most = outside(spark).map(_.most).max
      println(
        s"        ${watch.peak}, state ${report.stateBytes >> 20} MiB, " +
          s"outside of the heap ${before >> 20} MiB before and ${most >> 20} MiB at most; ${report.phases.toLine}")
      check(watch.losses.isEmpty, watch.losses.distinct.mkString("\n"))
      check(report.solver == "native", report.toText)
      checkNothingLeft(spark)
    } finally data.unpersist(blocking = true)
  }

  private def outside(spark: SparkSession): Iterable[MemoryWatch.Outside] =
    onEach(spark)(() => MemoryWatch.outsideOfHeap()).values

  private def fit(estimator: Estimator[_ <: Model[_]])(data: DataFrame): Model[_] = estimator.fit(data)

  private def logisticRegression: LogisticRegression =
    new LogisticRegression().setLabelCol("class").setRegParam(0.01).setMaxIter(3)

  private def logistic(orientation: String): DataFrame => Model[_] = fit(logisticRegression.setOrientation(orientation))

  private def gradients(algorithm: String): DataFrame => Model[_] = fit(logisticRegression.setAlgorithm(algorithm))

  private def hinge: DataFrame => Model[_] =
    fit(new LinearSVC().setLabelCol("class").setRegParam(0.01).setMaxIter(3))

  private def squared: DataFrame => Model[_] =
    fit(new LinearRegression().setRegParam(0.05).setElasticNetParam(0.5).setMaxIter(3))

  private def topics: DataFrame => Model[_] = fit(new LDA().setK(20).setMaxIter(3).setSeed(1L))
}
