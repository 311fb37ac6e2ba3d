package dwell.ml

import java.nio.file.Files
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{Callable, Executors, TimeUnit}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.SparkException
import org.apache.spark.ml.classification.{LogisticRegressionModel, OneVsRest}
import org.apache.spark.ml.evaluation.BinaryClassificationEvaluator
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.tuning.{CrossValidator, CrossValidatorModel, ParamGridBuilder, TrainValidationSplit}
import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart, SparkListenerStageCompleted}
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.expressions.UserDefinedFunction
import org.apache.spark.sql.functions.{col, lit, rand, udf, when}

import org.scalatest.BeforeAndAfterEach

import dwell.{Listened, SparkSuite}
import dwell.fit.DwellConf
import dwell.ml.classification.LogisticRegression
import dwell.ml.regression.LinearRegression
import dwell.ml.training.DataSharing
import dwell.report.FitReport

/** Single fits on a cached DataFrame, as Spark's CrossValidator makes them. */
class SharedDataSuite extends SparkSuite with BeforeAndAfterEach {

  /** Within the gap of 1e-10, a warm start ends at another point than a cold start. */
  private val Tolerance = 1e-4

  private val Penalties = Seq(0.01, 0.1, 1.0)

  private def one: ParamMap = ParamMap(estimator.regParam -> 0.1)

  private def estimator: LogisticRegression = new LogisticRegression("logreg").setLocalWork(20).setTol(1e-10)

  /** A new DataFrame of the same rows, not cached. */
  private def source: DataFrame = spark.createDataFrame(rows.asJava, schema).repartition(3, col("label"))
  private lazy val (rows, schema) = {
    val data = ClassificationData.sparse(spark, 0.5)
    try data.collect().toSeq -> data.schema
    finally data.unpersist(blocking = true)
  }

  override protected def beforeEach(): Unit = {
    spark.catalog.clearCache()
    spark.conf.set(DwellConf.ShareData, "true")
    rows
    awaitReleased()
  }

  override protected def afterEach(): Unit = {
    DataSharing.idleMillis = 60000L
    spark.catalog.clearCache()
    spark.conf.unset(DwellConf.ShareData)
  }

  private def persisted: Set[Int] = sc.getPersistentRDDs.collect { case (id, rdd) if isOurs(rdd.name) => id }.toSet

  private def isOurs(name: String): Boolean =
    name != null && Seq("rows as read", "rows on disk", "columns", "rows").exists(name.endsWith)

  private def awaitReleased(): Unit = eventually(assert(persisted.isEmpty, sc.getPersistentRDDs.toString))

  /** How often training data was read during `body`. */
  private def readings(body: => Unit): Int = {
    val seen = mutable.Set.empty[(String, Int)]
    val listener = new SparkListener {
      override def onStageCompleted(event: SparkListenerStageCompleted): Unit =
        event.stageInfo.rddInfos.foreach(rdd => seen += rdd.name -> rdd.id)
    }
    Listened.by(sc, listener)(body)
    seen.count { case (name, _) => name.endsWith("rows as read") }
  }

  private def cached(data: DataFrame): DataFrame = {
    val result = data.cache()
    result.count()
    result
  }

  private def distance(a: Vector, b: Vector): Double = math.sqrt(Vectors.sqdist(a, b)) / (1.0 + Vectors.norm(b, 2.0))

  private def notShared[T](body: => T): T = {
    spark.conf.set(DwellConf.ShareData, "false")
    try body
    finally spark.conf.set(DwellConf.ShareData, "true")
  }

  /** The same fit on data of its own. */
  private def cold(data: DataFrame, map: ParamMap): LogisticRegressionModel =
    notShared(estimator.copy(map).fit(data))

  private def assertSame(model: LogisticRegressionModel, other: LogisticRegressionModel): Unit =
    assert(distance(model.coefficients, other.coefficients) <= Tolerance)

  private def assertOther(model: LogisticRegressionModel, other: LogisticRegressionModel): Unit =
    assert(distance(model.coefficients, other.coefficients) > 100 * Tolerance)

  test("fits on a cached DataFrame read it once; each has its own certificate and is the fit on data of its own") {
    val data = cached(source)
    val models = mutable.ArrayBuffer.empty[LogisticRegressionModel]
    assert(readings(Penalties.foreach(r => models += estimator.setRegParam(r).fit(data))) == 1)
    models.zip(Penalties).foreach { case (model, penalty) =>
      val report = FitReport.of(model)
      assert(report.solver == "native")
      assert(report.converged && report.gap <= 1e-10 * report.objective)
      assert(model.getRegParam == penalty && model.binarySummary.areaUnderROC > 0.5)
      assertSame(model, cold(data, ParamMap(estimator.regParam -> penalty)))
    }
    // A fit that starts from its own solution.
    val again = estimator.setRegParam(Penalties.last).fit(data)
    assert(FitReport.of(again).rounds.length <= FitReport.of(models.last).rounds.length)
    data.unpersist()
    awaitReleased()
  }

  test("data that is not cached, and data that is not to be shared, is read by each fit and released after it") {
    val data = source
    assert(readings(Penalties.foreach(r => estimator.setRegParam(r).fit(data))) == Penalties.size)
    assert(persisted.isEmpty)
    val kept = cached(source)
    spark.conf.set(DwellConf.ShareData, "false")
    assert(readings(Penalties.foreach(r => estimator.setRegParam(r).fit(kept))) == Penalties.size)
    assert(persisted.isEmpty)
    spark.conf.set(DwellConf.ShareData, "perhaps")
    intercept[IllegalArgumentException](estimator.setRegParam(0.1).fit(kept))
  }

  for (parallelism <- Seq(1, 2)) {
    test(s"under CrossValidator with parallelism $parallelism each fold is read once") {
      val ours = estimator
      val grid = new ParamGridBuilder().addGrid(ours.regParam, Penalties.toArray).build()
      val cv = new CrossValidator()
        .setEstimator(ours)
        .setEvaluator(new BinaryClassificationEvaluator())
        .setEstimatorParamMaps(grid)
        .setNumFolds(2)
        .setParallelism(parallelism)
        .setCollectSubModels(true)
        .setSeed(1L)
      val data = source
      val fits = mutable.ArrayBuffer.empty[CrossValidatorModel]
      // Reads two folds, and the whole data for the best model, which are not cached.
      assert(readings(fits += cv.fit(data)) == 3)
      awaitReleased()
      val shared = fits.head
      assert(shared.subModels.flatten.forall(m => FitReport.of(m.asInstanceOf[LogisticRegressionModel]).converged))
      val alone = notShared(cv.fit(data))
      shared.avgMetrics.zip(alone.avgMetrics).foreach { case (a, b) => assert(math.abs(a - b) < 1e-3) }
      for (fold <- 0 until 2; i <- grid.indices) {
        def model(of: Array[Array[org.apache.spark.ml.Model[_]]]) = of(fold)(i).asInstanceOf[LogisticRegressionModel]
        assertSame(model(shared.subModels), model(alone.subModels))
        assert(model(shared.subModels).getRegParam == Penalties(i))
      }
    }
  }

  test("under TrainValidationSplit") {
    val ours = estimator
    val split = new TrainValidationSplit()
      .setEstimator(ours)
      .setEvaluator(new BinaryClassificationEvaluator())
      .setEstimatorParamMaps(new ParamGridBuilder().addGrid(ours.regParam, Penalties.toArray).build())
      .setParallelism(2)
      .setSeed(1L)
    val data = source
    assert(readings(assert(split.fit(data).validationMetrics.length == 3)) == 2)
    awaitReleased()
    val kept = cached(data)
    assert(readings(split.fit(kept)) == 2)
    // The data of the best model stay until the DataFrame is unpersisted.
    assert(readings(estimator.setRegParam(0.5).fit(kept)) == 0)
    kept.unpersist()
    awaitReleased()
  }

  test("OneVsRest: labels that are computed for each class are not shared") {
    val classes = cached(source.withColumn("label", when(rand(3L) < 0.3, lit(2.0)).otherwise(col("label"))))
    val rest = new OneVsRest().setClassifier(estimator.setRegParam(0.1)).setParallelism(2)
    assert(readings(assert(rest.fit(classes).models.length == 3)) == 3)
    assert(persisted.isEmpty)
  }

  test("a DataFrame that is cached again with other content gives the new answer") {
    val data = source.withColumn("label", SharedDataSuite.label(col("label")))
    val answers = Seq(cold(source, one), cold(source.withColumn("label", lit(1.0) - col("label")), one))
    assertOther(answers(0), answers(1))
    try {
      for (round <- 0 to 3) {
        val (answer, other) = (answers(round % 2), answers((round + 1) % 2))
        SharedDataSuite.flip = round % 2 == 1
        cached(data)
        assertSame(estimator.fit(data, one), answer)
        // While rows are cached, they count, as in Spark's own code.
        SharedDataSuite.flip = !SharedDataSuite.flip
        assertSame(estimator.fit(data, one), answer)
        // Fits again at once, before any listener hears of it.
        data.unpersist()
        if (round > 1) assertSame(estimator.fit(data, one), other)
      }
    } finally SharedDataSuite.flip = false
    awaitReleased()
  }

  test("unpersisting the RDD behind the back of Spark SQL ends the sharing") {
    val data = cached(source)
    estimator.setRegParam(0.1).fit(data)
    assert(persisted.nonEmpty)
    sc.getPersistentRDDs.values.filterNot(r => isOurs(r.name)).foreach(_.unpersist(blocking = true))
    awaitReleased()
    assert(readings(Penalties.foreach(r => estimator.setRegParam(r).fit(data))) == Penalties.size)
  }

  test("a table that is overwritten under a cached DataFrame: the answer is of the rows that Spark reads") {
    val path = Files.createTempDirectory("dwell-shared").resolve("data").toString
    source.write.parquet(path)
    val data = cached(spark.read.parquet(path))
    val first = estimator.setRegParam(0.1).fit(data)
    source.withColumn("label", lit(1.0) - col("label")).write.mode("overwrite").parquet(path)
    // Spark has cached the DataFrame anew.
    val second = estimator.setRegParam(0.1).fit(data)
    assertSame(second, cold(data, one))
    assertOther(second, first)
    // If another program replaces the files, Spark's cache does not notice, and neither does Dwell.
    val other = Files.createTempDirectory("dwell-shared").resolve("data").toString
    source.write.parquet(other)
    val files = new java.io.File(path).listFiles()
    files.foreach(_.delete())
    new java.io.File(other).listFiles().foreach(f => f.renameTo(new java.io.File(path, f.getName)))
    assertSame(estimator.setRegParam(0.1).fit(data), second)
  }

  test("a temporary view: replaced, it is another DataFrame") {
    source.createOrReplaceTempView("shared")
    spark.catalog.cacheTable("shared")
    try {
      val first = estimator.setRegParam(0.1).fit(spark.table("shared"))
      assert(readings(estimator.setRegParam(0.2).fit(spark.table("shared"))) == 0)
      source.withColumn("label", lit(1.0) - col("label")).createOrReplaceTempView("shared")
      assertOther(estimator.setRegParam(0.1).fit(spark.table("shared")), first)
    } finally spark.catalog.dropTempView("shared")
  }

  test("columns are told apart by what they hold, not by their names") {
    val two = source.withColumn("opposite", lit(1.0) - col("label"))
    val data = cached(two.select(col("label"), col("opposite"), col("features")))
    val model = estimator.setRegParam(0.1).fit(data)
    // For Spark this is the same plan, which it answers from the same cached rows.
    val renamed = two.select(col("label").as("opposite"), col("opposite").as("label"), col("features"))
    val other = estimator.setRegParam(0.1).fit(renamed)
    assertSame(other, cold(renamed, one))
    assertOther(other, model)
    val swapped = data.withColumnRenamed("label", "x").withColumnRenamed("opposite", "label")
    assertSame(estimator.setRegParam(0.1).fit(swapped), other)
    val weighted = data.withColumn("w", lit(2.0))
    assert(readings(estimator.setRegParam(0.1).setWeightCol("w").fit(weighted)) == 1)
    // Computed or filtered columns differ from the cached rows.
    assert(
      readings(
        assertOther(estimator.setRegParam(0.1).fit(data.withColumn("label", lit(1.0) - col("label"))), model)) == 1)
    assert(readings(estimator.setRegParam(0.1).fit(data.where(col("label") < 2.0))) == 1)
    // A projection that drops or adds other columns does not.
    assert(readings(assertSame(estimator.setRegParam(0.1).fit(data.select("features", "label")), model)) == 0)
  }

  test("estimators do not share what each of them checks in its own way") {
    val numbers = cached(source.withColumn("label", col("label") + 0.5))
    val linear = new LinearRegression().setRegParam(0.1)
    assert(readings(Seq(0.1, 0.2).foreach(r => linear.setRegParam(r).fit(numbers))) == 1)
    val error = intercept[Exception](estimator.setRegParam(0.1).fit(numbers))
    val alone = intercept[Exception](cold(numbers, one))
    assert(error.getClass == alone.getClass)
  }

  test("two sessions of one context: a cached relation is the same in both, and their temporary views are not") {
    val data = cached(source)
    val model = estimator.setRegParam(0.1).fit(data)
    val other = spark.newSession()
    other.conf.set(DwellConf.ShareData, "true")
    source.createOrReplaceTempView("mine")
    other
      .createDataFrame(rows.asJava, schema)
      .withColumn("label", lit(1.0) - col("label"))
      .createOrReplaceTempView("mine")
    spark.catalog.cacheTable("mine")
    other.catalog.cacheTable("mine")
    val here = estimator.setRegParam(0.1).fit(spark.table("mine"))
    val there = estimator.setRegParam(0.1).fit(other.table("mine"))
    assertSame(here, model)
    assertOther(there, model)
    other.catalog.dropTempView("mine")
    spark.catalog.dropTempView("mine")
    SparkSession.setActiveSession(spark)
  }

  test("unused data is released after a while, and read again afterwards") {
    val data = cached(source)
    DataSharing.idleMillis = 300L
    estimator.setRegParam(0.1).fit(data)
    awaitReleased()
    assert(data.storageLevel.useMemory)
    def janitor = Thread.getAllStackTraces.keySet.asScala.exists(_.getName == "dwell-shared-data")
    eventually(assert(!janitor))
    DataSharing.idleMillis = 60000L
    assert(readings(Penalties.foreach(r => estimator.setRegParam(r).fit(data))) == 1)
  }

  test("a failed fit releases the data, and others read it anew") {
    val data = cached(source)
    estimator.setRegParam(0.1).fit(data)
    assert(persisted.nonEmpty)
    val jobs = new AtomicInteger
    val saboteur = new SparkListener {
      // The first job reads the length of the features.
      override def onJobStart(event: SparkListenerJobStart): Unit = if (jobs.incrementAndGet() > 2) sc.cancelAllJobs()
    }
    sc.addSparkListener(saboteur)
    try intercept[SparkException](estimator.setRegParam(1e-4).setTol(1e-14).setLocalWork(0.1).fit(data))
    finally sc.removeSparkListener(saboteur)
    // Immediately: the failed fit itself releases the data.
    assert(persisted.isEmpty)
    assert(readings(estimator.setRegParam(0.1).fit(data)) == 1)
  }

  test("no more than two are kept, the last used; a third one in use at the same time has data of its own") {
    val frames = (1 to 3).map(i => cached(source.withColumn("w", lit(i.toDouble))))
    def fit(i: Int): Unit = estimator.setRegParam(0.1).setWeightCol("w").fit(frames(i))
    fit(0)
    fit(1)
    assert(readings(fit(0)) == 0)
    fit(2)
    assert(readings(fit(0)) == 0, "it was used after the other")
    assert(readings(fit(1)) == 1)
    val pool = Executors.newFixedThreadPool(6)
    try {
      val tasks = (0 until 12).map(i => (() => fit(i % 3)): Callable[Unit])
      pool.invokeAll(tasks.asJava, 300, TimeUnit.SECONDS).asScala.foreach(_.get())
    } finally pool.shutdownNow()
    frames.foreach(_.unpersist())
    awaitReleased()
  }

  test("unpersisted while fits are running: they end, and nothing is left") {
    val data = cached(source)
    val pool = Executors.newFixedThreadPool(3)
    try {
      val fits = (1 to 9).map { i =>
        pool.submit((() => estimator.setRegParam(0.05 * i).fit(data)): Callable[LogisticRegressionModel])
      }
      fits.head.get(300, TimeUnit.SECONDS)
      data.unpersist()
      fits.zipWithIndex.foreach { case (fit, i) =>
        assertSame(fit.get(300, TimeUnit.SECONDS), cold(data, ParamMap(estimator.regParam -> 0.05 * (i + 1))))
      }
    } finally pool.shutdownNow()
    awaitReleased()
  }
}

private object SharedDataSuite {
  @volatile var flip = false

  val label: UserDefinedFunction = udf((y: Double) => if (flip) 1.0 - y else y)
}
