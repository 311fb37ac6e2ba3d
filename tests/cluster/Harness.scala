package dwell.cluster

import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}

import scala.reflect.ClassTag
import scala.util.{Failure, Random, Success, Try}

import org.apache.spark.{BlockExchange, DwellBridge, Shuffles, SparkEnv}
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent, SparkListenerExecutorRemoved}
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.storage.{RDDBlockId, ShuffleDataBlockId}

import dwell.{CaseLimit, Waiting}
import dwell.comm.ModelStore
import dwell.jni.{NativeBridge, NativeLoader}
import dwell.ml.clustering.LDA
import dwell.ml.regression.LinearRegression
import dwell.record.RoundCompleted
import dwell.report.FitReport

/** The common parts of programs that test on real executors; they end with a line `N passed, N failed`. */
private[cluster] trait Harness {

  private var passed = 0
  private var failed = 0

  /** Seconds that a case may take. */
  protected def limitSeconds: Double = 180.0

  /**
   * A case, which must be able to run twice: one that fails runs once more, since much on a cluster happens by chance. If it
   * passes then, it counts as passed, and the output says that it is flaky.
   */
  protected def test(name: String)(body: => Unit): Unit = {
    val start = System.nanoTime()
    def attempt = Try(CaseLimit(name, limitSeconds)(body))
    val first = attempt
    val last = if (first.isFailure && isReadyAgain()) attempt else first
    last match {
      case Success(_) =>
        passed += 1
        println(f"ok      $name (${(System.nanoTime() - start) * 1e-9}%.1f s)")
        first.failed.foreach(e => printFailure(s"flaky   $name: ${oneLine(e)}", e))
      case Failure(e) =>
        failed += 1
        if (left.nonEmpty) orphans = left
        printFailure(s"FAILED  $name: $e", e)
        if (first ne last) first.failed.foreach(e => println(s"          at first ${oneLine(e)}"))
    }
    left = Map.empty
  }

  /** Whether another attempt can begin: the session is alive, nothing of the first attempt runs, and executors are replaced. */
  private def isReadyAgain(): Boolean = cluster.exists { case (spark, executors) =>
    !spark.sparkContext.isStopped && Try {
      spark.sparkContext.cancelAllJobs()
      waitForExecutors(spark, executors)
    }.isSuccess
  }

  private def printFailure(title: String, e: Throwable): Unit = {
    println(title)
    e.getStackTrace.take(12).foreach(frame => println(s"          $frame"))
    Option(e.getCause).foreach(cause => println(s"          caused by $cause"))
  }

  private def oneLine(e: Throwable): String = e.toString.linesIterator.map(_.trim).mkString(" ")

  protected def failures: Int = failed

  protected def check(condition: Boolean, message: => String): Unit = if (!condition) throw new AssertionError(message)

  /** Prints the counts; the program ends with status 1 if anything failed. */
  protected def finish(spark: SparkSession): Unit = {
    println(s"$passed passed, $failed failed")
    spark.stop()
    if (failed > 0) sys.exit(1)
  }

  /** The session of the cases, and how many executors it last waited for. */
  private var cluster = Option.empty[(SparkSession, Int)]

  protected def waitForExecutors(spark: SparkSession, n: Int): Unit = {
    cluster = Some((spark, n))
    val end = System.nanoTime() + 120L * 1000 * 1000 * 1000
    while (DwellBridge.executorLocations(spark.sparkContext).size < n) {
      check(System.nanoTime() < end, s"$n executors did not come up")
      Thread.sleep(100)
    }
  }

  /** An exception counts as "not yet": meanwhile an executor may be lost, or other threads may change the list that
   * Spark reads. */
  protected def eventually(message: => String)(condition: => Boolean): Unit =
    Waiting.eventually {
      val answer = Try(condition)
      check(answer.toOption.contains(true), s"$message; last asked: $answer")
    }

  /** The result of `value` on each executor, by the executor's id. */
  protected def onEach[T: ClassTag](spark: SparkSession)(value: () => T): Map[String, T] = {
    val sc = spark.sparkContext
    val pinned = sc.makeRDD(DwellBridge.executorLocations(sc).map(location => (location, Seq(location))))
    pinned.map(_ => (SparkEnv.get.executorId, value())).collect().toMap
  }

  /** Process id of each executor. */
  protected def executors(spark: SparkSession): Map[String, Long] = onEach(spark)(() => ProcessHandle.current().pid())

  /** The result of `fit` if `action` runs once, in a thread of Spark's, after one of its rounds. */
  protected def afterRound[M](spark: SparkSession, number: Int = 3)(action: String => Unit)(fit: => M): M = {
    val done = new AtomicBoolean
    val listener = new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
        case RoundCompleted(uid, r) if r.round == number && !done.getAndSet(true) => action(uid)
        case _ =>
      }
    }
    spark.sparkContext.addSparkListener(listener)
    val result =
      try fit
      finally spark.sparkContext.removeSparkListener(listener)
    check(done.get, s"there was no round $number")
    result
  }

  /**
   * The result of `fit` if an executor that holds a part of its data, or all executors, are killed after a round, and after
   * `first`.
   *
   * @param end
   *   ends the executor of a process id while the fit runs
   */
  protected def withExecutorKilled[M](
      spark: SparkSession,
      after: Int = 3,
      all: Boolean = false,
      first: => Unit = (),
      end: Long => Unit = kill)(fit: => M): M = {
    val sc = spark.sparkContext
    val pids = executors(spark)
    val removed = new AtomicInteger()
    val losses = new SparkListener {
      override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit = removed.incrementAndGet()
    }
    sc.addSparkListener(losses)
    try {
      val result = afterRound(spark, after) { uid =>
        first
        val data = (trainingData(spark, uid) ++ rowsAsRead(spark, uid)).head
        val at = SparkEnv.get.blockManager.master.getLocations(RDDBlockId(data, 0)).head
        if (all) pids.values.foreach(end) else end(pids(at.executorId))
      }(fit)
      eventually("no executor was lost")(removed.get >= 1)
      result
    } finally sc.removeSparkListener(losses)
  }

  protected def kill(pid: Long): Unit =
    check(ProcessHandle.of(pid).get.destroyForcibly(), s"could not kill $pid")

  /** Ids of the cached data on which the workers of a fit train. */
  protected def trainingData(spark: SparkSession, uid: String): Seq[Int] = {
    val kinds = Seq("columns", "rows dealt", "rows moved", "rows gathered", "documents")
    val made = persisted(spark, name => kinds.exists(kind => name == s"$uid: $kind"))
    if (made.isEmpty) rowsAsRead(spark, uid) else made
  }

  /** Ids of the rows as a fit has read them. */
  protected def rowsAsRead(spark: SparkSession, uid: String): Seq[Int] = {
    val sources = for (kind <- Seq("rows", "documents"); where <- Seq("as read", "on disk")) yield s"$uid: $kind $where"
    persisted(spark, sources.contains(_))
  }

  private def persisted(spark: SparkSession, named: String => Boolean): Seq[Int] =
    spark.sparkContext.getPersistentRDDs.toSeq.collect { case (id, data) if Option(data.name).exists(named) => id }

  /** What earlier cases left on each executor. They failed for it, and no other case does. */
  private var orphans = Map.empty[String, Remains]

  /** What the present case has left there. Its second attempt fails for it, too. */
  private var left = Map.empty[String, Remains]

  /** Checks that executors hold nothing of any fit except cached data still in use. */
  protected def checkNothingLeft(spark: SparkSession): Unit = {
    val persistent = spark.sparkContext.getPersistentRDDs
    val wanted = persistent.keySet.filterNot(id => Option(persistent(id).name).exists(_.startsWith("dwell: model ")))
    def remains = onEach(spark)(() => Remains.here).map { case (id, here) => (id, here.without(wanted).known) }
    def added = remains.map { case (id, here) => (id, orphans.get(id).fold(here)(here.beyond)) }.filter(!_._2.isEmpty)
    // Spark removes cached data in the background, and a killed task may need time to end.
    var found = Map.empty[String, Remains]
    try
      eventually(s"it is not removed: $found") {
        if (found.nonEmpty) System.gc() // some of it not before the driver collects garbage
        found = added
        found.isEmpty
      }
    finally if (found.nonEmpty) Try(remains).foreach(left = _)
    def known =
      SparkEnv.get.blockManager.master.getMatchingBlockIds(_.name.contains("dwell"), askStorageEndpoints = false)
    eventually(s"the driver has a list of messages: ${Try(known)}")(known.isEmpty)
  }

  protected def estimator: LinearRegression =
    new LinearRegression()
      .setAlgorithm("cocoa")
      .setAggregation("driver")
      .setRegParam(1.0)
      .setNumWorkers(4)
      .setLocalWork(2.0)
      .setTol(1e-9)
      .setMaxIter(400)

  /** A fit by one task on each executor, of many short rounds. */
  protected def pair(aggregation: String): LinearRegression =
    estimator.setAggregation(aggregation).setNumWorkers(2).setLocalWork(0.05).setMaxIter(5000)

  /** Sparse, power-law features, wide enough to give every worker something to do. */
  protected def problem(spark: SparkSession, features: Int = 5000): DataFrame = {
    val rows = spark.sparkContext.parallelize(0 until 3000, 6).map { j =>
      val random = new Random(j)
      val ids = Seq.fill(40)((features * math.pow(random.nextDouble(), 3.0)).toInt).distinct.sorted
      val x = Vectors.sparse(features, ids.map(i => (i, 1.0 + random.nextInt(4))))
      (ids.filter(_ % 7 == 0).size + 0.3 * random.nextGaussian(), x: Vector)
    }
    val data = spark.createDataFrame(rows).toDF("label", "features").cache()
    data.foreach(_ => ()) // without a shuffle, as counting would be
    data
  }

  /** The same rows with labels of two classes, one of them rarer. */
  protected def binary(data: DataFrame): DataFrame =
    data.select((data("label") > 4.5).cast("double").as("label"), data("features"))

  /** A fit of topics, with features as counts of words, in a few rounds by one task on each executor. */
  protected def topics(aggregation: String): LDA = {
    val lda = new LDA().setAggregation(aggregation).setNumWorkers(2).setLocalBatch(50)
    lda.setK(3).setMaxIter(4).setSubsamplingRate(0.1).setSeed(7L)
    lda
  }

  /**
   * The same fits in every mode of aggregation.
   *
   * @param expected
   *   the mode in which `auto` and `gang` should end on this cluster
   */
  protected def modesAgree(data: DataFrame, expected: String): Unit = {
    agree("ridge regression", Seq(expected)) { mode =>
      val model = pair(mode).setMaxIter(10).fit(data)
      (FitReport.of(model), model.coefficients.toArray.toSeq :+ model.intercept)
    }
    // Topics are long, so without a gang the workers may add them.
    agree("topics", if (expected == "gang") Seq("gang") else Seq("driver", "shuffle")) { mode =>
      val model = topics(mode).fit(data)
      (FitReport.of(model), (model.topicsMatrix.toArray ++ model.estimatedDocConcentration.toArray).toSeq)
    }
  }

  private def agree(what: String, expected: Seq[String])(fit: String => (FitReport, Seq[Double])): Unit = {
    val byDriver = fit("driver")._2
    for (mode <- Seq("shuffle", "auto", "gang")) test(s"$what, aggregation $mode: the bits of driver mode") {
      val (report, numbers) = fit(mode)
      val used = if (mode == "shuffle") Seq(mode) else expected
      check(used.contains(report.aggregation) && report.solver == "native", report.toText)
      check(numbers == byDriver, "other bits")
    }
  }
}

/**
 * Leftovers of fits on an executor: worker states, models, messages of gangs, cached data by their RDD, and
 * shuffles with files.
 */
private[cluster] final case class Remains(
    stateBytes: Long,
    states: Long,
    models: Int,
    messages: Int,
    cached: Set[Int],
    shuffles: Set[Int]) {
  def isEmpty: Boolean = stateBytes + states + models + messages == 0L && cached.isEmpty && shuffles.isEmpty
  def without(wanted: collection.Set[Int]): Remains = copy(cached = cached.filterNot(wanted))

  /** Only files of shuffles that the driver knows: Spark does not delete those of a block manager it has forgotten. */
  def known: Remains = copy(shuffles = shuffles.filter(Shuffles.isRegistered))

  /** What is more than in `earlier`. */
  def beyond(earlier: Remains): Remains = Remains(
    math.max(0L, stateBytes - earlier.stateBytes),
    math.max(0L, states - earlier.states),
    math.max(0, models - earlier.models),
    math.max(0, messages - earlier.messages),
    cached -- earlier.cached,
    shuffles -- earlier.shuffles)
}

private[cluster] object Remains {
  def here: Remains = {
    val blocks = SparkEnv.get.blockManager
    // The library is not loaded on an executor that has just come up.
    def native(count: () => Long): Long = if (NativeLoader.isLoaded) count() else 0L
    Remains(
      native(() => NativeBridge.stateBytes()),
      native(() => NativeBridge.stateEntries()),
      ModelStore.entries,
      BlockExchange.local.count("dwell"),
      blocks.getMatchingBlockIds(_.isRDD).flatMap(_.asRDDId).map(_.rddId).toSet,
      blocks.diskBlockManager.getAllBlocks().collect { case id: ShuffleDataBlockId => id.shuffleId }.toSet)
  }
}
