package dwell.cluster

import java.io.File
import java.lang.management.ManagementFactory
import java.nio.file.Files
import java.util.Collections
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._
import scala.concurrent.{Await, Future}
import scala.reflect.ClassTag
import scala.util.{Random, Try}

import org.apache.spark.{DwellBridge, FetchFailed, SparkEnv, SparkException}
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler._
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.storage.RDDBlockId

import dwell.{CheckLong, Waiting}
import dwell.data.{LocalData, RowData, TrainingReader, TrainingRows}
import dwell.data.block.LabeledRow
import dwell.data.rows.RowForm
import dwell.ml.classification.LogisticRegression
import dwell.problem.{Algorithm, Labels, Orientation}
import dwell.solver.{Fault, FaultyFit, FaultyLinear, FaultyNetwork, FaultyTopics, Solved}
import dwell.solver.linear.LinearProblem
import dwell.spark.{InputChangedException, Unpersist}

/**
 * Faults on a real cluster: each fit ends with the objective of an undisturbed fit, or with an exception that gives
 * the reason, and leaves nothing behind. standalone.py runs it on two executors that Spark takes to be on two hosts.
 */
object FaultTest extends Harness {
  private val Modes = Seq("driver", "shuffle", "gang")
  private val Limit = Waiting.LimitSeconds.seconds

  /** So many that a gang of four sends vectors with a number for each feature in slices. */
  private val Features = 9000

  /** Attempts of a task, and of gangs before driver mode takes over. */
  private val Attempts = 4

  /** Number of executors that the tests have killed, in every attempt. */
  private val killed = new AtomicInteger()

  /** Only cases whose names contain this run. */
  private var selection = ""

  def main(args: Array[String]): Unit = {
    selection = args.headOption.getOrElse("")
    val spark = session()
    val lost = new AtomicInteger()
    spark.sparkContext.addSparkListener(new SparkListener {
      override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit = lost.incrementAndGet()
    })
    val data = problem(spark, Features)
    val coordinates = coordinatesOf(data)
    val primal = coordinates.head
    val averaging = new Gradients(Algorithm.ModelAveraging, data)
    val newton = new Gradients(Algorithm.LBFGS, data)
    val problems = coordinates ++ Seq(averaging, newton)
    // Six partitions of the source: three for each of two workers. Four workers cannot share them evenly.
    val leftAveraging = new Gradients(Algorithm.ModelAveraging, data, leftInPlace = true, numWorkers = 2)
    val leftSearch = new Gradients(Algorithm.LBFGS, data, leftInPlace = true, numWorkers = 2, hashed = true)
    val (topics, learning) = (new Topics(learnAlpha = false, data), new Topics(learnAlpha = true, data))
    val means = new Topics(learnAlpha = false, data, mean = true)
    val network = new Network(data)
    (problems ++ Seq(leftAveraging, leftSearch, topics, learning, means, network)).foreach(
      _.reference
    ) // before anything goes wrong
    // The leader of a gang that begins again does not know the last alpha.
    def topicsIn(mode: String) = if (mode == "gang") topics else learning
    exceptions(
      spark,
      inModes(problems: _*) ++ Modes.map(mode => (mode, topicsIn(mode))) ++ inModes(means).filter(_._1 != "driver"))
    exceptionsForEver(spark, inModes(problems: _*) ++ inModes(topics).filter(_._1 != "shuffle"))
    lostData(spark, coordinates :+ averaging, topics)
    lostRowsInPlace(spark, leftAveraging, leftSearch)
    unpersistedMeanwhile(spark)
    Modes.foreach(changedData(spark, _, primal))
    cancellations(spark, Seq(primal, averaging), topics)
    CheckLong.only(3)(Modes.foreach(thirtyFits(spark, _, data)))
    test(s"${means.name}: other topics") {
      check(!means.reference.numbers.sameElements(topics.reference.numbers), "the same bits")
    }
    changedData(spark, "driver", topics)
    lostWhileReading(spark, topics)
    lostFirstTopics(spark, topics)
    coordinates.foreach(lostWhileFlattening(spark, _))
    stateOfForgotten(spark)
    twoAtOnce(spark, data)
    Seq(averaging, topics).foreach(roundsOfBrokenGang(spark, _))
    kills(
      spark,
      // A state is lost in the same way in both orientations.
      betweenRounds = inModes(primal, averaging, topics),
      atWork = inModes(coordinates :+ averaging: _*) :+ (("gang", learning)),
      outsideRounds = inModes(averaging),
      inLineSearch = inModes(newton))
    CheckLong.valuesOf(inModes(network)).foreach { case (mode, p) => killAtWork(spark, mode, p) }
    killedTwice(spark, coordinates.last)
    Seq(averaging, topics).foreach(allKilled(spark, _))
    test("no executor was lost but those that were killed") {
      eventually(s"$lost lost, $killed killed")(lost.get == killed.get)
    }
    spark.stop()

    val speculating = session(
      "spark.speculation" -> "true",
      "spark.speculation.quantile" -> "0.5",
      "spark.speculation.multiplier" -> "1.5",
      "spark.locality.wait" -> "300ms", // or no copy would leave the data in time
      "spark.driver.maxResultSize" -> "4m")
    val again = problem(speculating, Features)
    val (slowed, copied) = (coordinatesOf(again), new Topics(learnAlpha = true, again))
    (slowed :+ copied).foreach(_.reference)
    val tasks = Seq(("round", false), ("round", true), ("collect", true))
    val slowTasks =
      for ((mode, p) <- inModes(slowed: _*); (phase, afterWork) <- tasks) yield (mode, p, phase, afterWork)
    (CheckLong.pairsOf(slowTasks) ++ Seq("driver", "shuffle").map((_, copied, "round", true))).foreach {
      case (mode, p, phase, afterWork) => speculation(speculating, mode, p, phase, afterWork)
    }
    tooLargeForDriver(speculating, again)
    finish(speculating)
  }

  private def session(settings: (String, String)*): SparkSession = {
    val always = Seq(
      // After the loss of the only other executor, an executor would make no second copies of its blocks for a minute.
      // In shuffle mode the next loss would then take a part of the model with it, which costs rounds and changes the
      // bits that are checked here.
      "spark.storage.cachedPeersTtl" -> "0",
      // How long Spark forgets a block manager after a missing file.
      "spark.executor.heartbeatInterval" -> "2s")
    val builder = (always ++ settings).foldLeft(SparkSession.builder().appName("dwell fault tests")) {
      case (b, (key, value)) => b.config(key, value)
    }
    val spark = builder.getOrCreate()
    waitForExecutors(spark, 2)
    spark
  }

  override protected def test(name: String)(body: => Unit): Unit = if (name.contains(selection)) super.test(name)(body)

  override protected def kill(pid: Long): Unit = {
    super.kill(pid)
    killed.incrementAndGet()
    ()
  }

  /** The result of `solve`, whose faults may kill executors. */
  private def countingKills[M](fit: FaultyFit)(solve: => M): M =
    try solve
    finally {
      killed.addAndGet(fit.executorsKilled)
      ()
    }

  /** A problem, and the ways to solve it. */
  private sealed abstract class Problem(val name: String, val rows: RDD[LabeledRow]) {

    /** The phase of a round. */
    def round: String

    /** The phases in which a task can fail once. */
    def phases: Seq[String]

    /** The phases in which a task can fail at every attempt. */
    def lasting: Seq[String]

    /** Fails unless the solution is right. */
    def check(solution: Solved): Unit

    def fitOn(rows: RDD[LabeledRow], mode: String, faults: Fault*): FaultyFit

    def fit(mode: String, faults: Fault*): FaultyFit = fitOn(rows, mode, faults: _*)

    /** A fit of this many rounds. */
    def fitOf(rounds: Int, mode: String, faults: Fault*): FaultyFit

    /** A fit with a round longer than any test waits. */
    def endless(mode: String, faults: Fault*): FaultyFit

    /** Rows that differ whenever they are read. */
    def noisy: RDD[LabeledRow]

    /** A fit with rounds so long that an event after one round reaches the next rounds. */
    def slowFit(mode: String, faults: Fault*): FaultyFit = fitOn(rows, mode, faults :+ slow: _*)

    def slow: Fault = Fault(Fault.Sleep(60L), round, again = true)

    /** Counts searches for a step size. */
    val searched: Fault = Fault(Fault.Sleep(0L), "search", again = true)

    /** The solution of an undisturbed fit, which is the same in every mode, and its searches for a step size. */
    lazy val (reference: Solved, searches: Int) = {
      val undisturbed = fit("driver", searched)
      (undisturbed.solve(), undisturbed.happened.head)
    }

    def checkConverged(solution: Solved): Unit =
      FaultTest.check(solution.facts.converged, s"not converged: $solution")

    def checkBits(solution: Solved): Unit = FaultTest.check(
      solution.numbers.sameElements(reference.numbers),
      s"other bits: objective ${solution.facts.objective} in place of ${reference.facts.objective}")
  }

  /** A problem of a linear model. */
  private sealed abstract class Linear(
      name: String,
      algorithm: Algorithm,
      val orientation: Orientation,
      numWorkers: Int,
      rows: RDD[LabeledRow],
      length: Int = Features)
      extends Problem(name, rows) {

    def problem(mode: String, localWork: Double = 1.0): LinearProblem =
      FaultyFit.problem(algorithm, orientation, mode, numWorkers, localWork)

    override def fitOn(rows: RDD[LabeledRow], mode: String, faults: Fault*): FaultyFit =
      new FaultyLinear(rows, length, problem(mode), faults)

    override def fitOf(rounds: Int, mode: String, faults: Fault*): FaultyFit =
      new FaultyLinear(this.rows, length, problem(mode).copy(maxRounds = rounds, tolerance = 0.0), faults)

    override def endless(mode: String, faults: Fault*): FaultyFit =
      new FaultyLinear(rows, length, problem(mode, localWork = 1e7), faults)

    override def noisy: RDD[LabeledRow] =
      rows.map(row => row.copy(label = row.label + 0.01 * Random.nextGaussian()))
  }

  /** A linear model by coordinate descent. */
  private final class Coordinates(orientation: Orientation, numWorkers: Int, rows: RDD[LabeledRow])
      extends Linear(orientation.name, Algorithm.CoCoA, orientation, numWorkers, rows) {
    override def round: String = "round"
    override def phases: Seq[String] = Seq("round", "rebuild", "start", "collect")
    override def lasting: Seq[String] = Seq("round", "collect")

    override def check(solution: Solved): Unit = {
      checkConverged(solution)
      val difference = math.abs(solution.facts.objective - reference.facts.objective)
      val allowed = math.max(solution.facts.gap, reference.facts.gap)
      FaultTest.check(difference <= allowed, s"the objective differs by $difference, by more than $allowed")
    }
  }

  /**
   * A linear model by gradients of the rows.
   *
   * @param hashed
   *   whether the features are a quarter of the features of longer vectors, of which the rest does not occur
   */
  private final class Gradients(
      algorithm: Algorithm,
      data: DataFrame,
      leftInPlace: Boolean = false,
      numWorkers: Int = 4,
      hashed: Boolean = false)
      extends Linear(
        algorithm.name + (if (hashed) ", hashed features" else "") + (if (leftInPlace) ", rows left where they are"
                                                                      else ""),
        algorithm,
        Orientation.Dual,
        numWorkers,
        if (hashed) labeled(binary(data)).map(inLongerVectors) else labeled(binary(data)),
        if (hashed) Longer * Features else Features) {

    /** Which executor has read which blocks decides in what order L-BFGS adds their sums. */
    private def ordered: Boolean = averages || !leftInPlace

    private def averages: Boolean = algorithm == Algorithm.ModelAveraging

    override def noisy: RDD[LabeledRow] =
      rows.map(row => if (Random.nextInt(50) > 0) row else row.copy(label = 1.0 - row.label))
    override def round: String = if (averages) "descend" else "pass"
    override def phases: Seq[String] =
      if (averages) Seq("descend", "search", "pass") else Seq("pass")
    override def lasting: Seq[String] = phases

    override def check(solution: Solved): Unit = {
      checkConverged(solution)
      // No step depends on a worker's past. A gang that begins again continues from an average.
      if (solution.facts.restarts == 0 && ordered) checkBits(solution)
      else {
        val difference = math.abs(solution.facts.objective - reference.facts.objective)
        val allowed = if (solution.facts.restarts == 0) 1e-9 else 1e-3
        FaultTest.check(difference <= allowed * reference.facts.objective, s"the objective differs by $difference")
      }
    }
  }

  private def inLongerVectors(row: LabeledRow): LabeledRow = {
    val entries = Seq.newBuilder[(Int, Double)]
    row.features.foreachActive((j, value) => entries += ((Longer * j, value)))
    row.copy(features = Vectors.sparse(Longer * Features, entries.result()))
  }

  private val Longer = 4

  /** A network by model averaging. */
  private final class Network(data: DataFrame) extends Problem("ma-sgd of a network", labeled(binary(data))) {
    private val rounds = 20

    override def round: String = "descend"
    override def phases: Seq[String] = Seq("descend", "search", "pass")
    override def lasting: Seq[String] = phases

    override def fitOn(rows: RDD[LabeledRow], mode: String, faults: Fault*): FaultyFit =
      new FaultyNetwork(rows, Features, FaultyFit.network(Features, mode, rounds, localWork = 1.0), faults)

    override def fitOf(rounds: Int, mode: String, faults: Fault*): FaultyFit =
      new FaultyNetwork(this.rows, Features, FaultyFit.network(Features, mode, rounds, localWork = 1.0), faults)

    override def endless(mode: String, faults: Fault*): FaultyFit =
      new FaultyNetwork(rows, Features, FaultyFit.network(Features, mode, rounds, localWork = 1e7), faults)

    override def noisy: RDD[LabeledRow] =
      rows.map(row => if (Random.nextInt(50) > 0) row else row.copy(label = 1.0 - row.label))

    override def check(solution: Solved): Unit = {
      FaultTest.check(solution.facts.rounds.last.round == rounds, s"${solution.facts.rounds.last.round} rounds")
      // A gang that begins again continues from an average, and visits the rows of a round again.
      if (solution.facts.restarts == 0) checkBits(solution)
      else {
        val (start, end) = (reference.facts.rounds.head.objective, reference.facts.objective)
        val reached = solution.facts.objective
        FaultTest.check(reached <= end + 0.1 * (start - end), s"the objective is $reached in place of $end")
      }
    }
  }

  /** Topics, with features as counts of words. */
  private final class Topics(learnAlpha: Boolean, data: DataFrame, mean: Boolean = false)
      extends Problem(
        s"ma-lda, ${if (mean) "means, " else ""}alpha ${if (learnAlpha) "learned" else "given"}",
        labeled(data)) {
    private def problem(mode: String) = FaultyTopics.problem(mode, learnAlpha, mean)

    override def round: String = "round"
    override def phases: Seq[String] = Seq("round")
    override def lasting: Seq[String] = Seq("bound")

    override def fitOn(rows: RDD[LabeledRow], mode: String, faults: Fault*): FaultyFit =
      new FaultyTopics(rows, Features, numWorkers = 4, problem(mode), faults)

    override def fitOf(rounds: Int, mode: String, faults: Fault*): FaultyFit =
      new FaultyTopics(this.rows, Features, numWorkers = 4, problem(mode).copy(iterations = rounds), faults)

    override def endless(mode: String, faults: Fault*): FaultyFit =
      new FaultyTopics(rows, Features, numWorkers = 4, FaultyTopics.endless(mode), faults)

    override def noisy: RDD[LabeledRow] = rows.map { row =>
      row.copy(features = Vectors.sparse(Features, Seq((Random.nextInt(Features), 1.0))))
    }

    override def check(solution: Solved): Unit = {
      checkConverged(solution)
      // Rounds equal those of an undisturbed fit, except that the first round of another gang has an alpha one round
      // older.
      if (!learnAlpha || solution.facts.restarts == 0) checkBits(solution)
      else {
        val difference = math.abs(solution.facts.objective - reference.facts.objective)
        FaultTest.check(difference <= 1e-3 * reference.facts.objective, s"the objective differs by $difference")
      }
    }
  }

  /** Two workers find slots on one executor if the other is lost; four workers need both executors. */
  private def coordinatesOf(data: DataFrame): Seq[Coordinates] =
    Seq(
      new Coordinates(Orientation.Primal, numWorkers = 2, labeled(data)),
      new Coordinates(Orientation.Dual, numWorkers = 4, labeled(binary(data))))

  private def labeled(data: DataFrame): RDD[LabeledRow] =
    data.rdd.map(row => LabeledRow(row.getDouble(0), 1.0, row.getAs[Vector](1)))

  private def expect[E <: Throwable](body: => Any)(implicit kind: ClassTag[E]): E =
    Try(body).failed.toOption match {
      case Some(e: E) => e
      case Some(e) => throw e
      case None => throw new AssertionError(s"no ${kind.runtimeClass.getSimpleName} was thrown")
    }

  /** A gang begins again after any fault of one of its tasks; in other modes Spark repeats the task. */
  private def restarts(mode: String): Int = if (mode == "gang") 1 else 0

  /** Each problem in each mode. */
  private def inModes(problems: Problem*): Seq[(String, Problem)] =
    for (mode <- Modes; p <- problems) yield (mode, p)

  private def exceptions(spark: SparkSession, problems: Seq[(String, Problem)]): Unit = {
    val all =
      for ((mode, p) <- problems; phase <- p.phases; afterWork <- Seq(false, true)) yield (mode, p, phase, afterWork)
    for ((mode, p, phase, afterWork) <- CheckLong.pairsOf(all)) {
      test(s"$mode, ${p.name}: exception ${if (afterWork) "after" else "before"} the work of a $phase") {
        // A worker whose state is lost makes all of them rebuild.
        val cause = if (phase == "rebuild") Some(Fault(Fault.LoseState, from = 3L)) else None
        // Passes have no number.
        val first = if (phase == p.round && phase != "pass") 3L else 0L
        val thrown = Fault(Fault.Throw, phase, from = first, partition = 1, afterWork)
        val fit = p.fit(mode, cause.toSeq :+ thrown: _*)
        // The second fit starts from the first.
        val solution = fit.solve(fits = if (phase == "start") 2 else 1)
        p.check(solution)
        check(fit.happened.forall(_ == 1), fit.happened.toString)
        check(solution.facts.restarts == restarts(mode), s"${solution.facts.restarts} restarts")
        checkNothingLeft(spark)
      }
    }
  }

  private def exceptionsForEver(spark: SparkSession, problems: Seq[(String, Problem)]): Unit = {
    val all = for ((mode, p) <- problems; phase <- p.lasting) yield (mode, p, phase)
    for ((mode, p, phase) <- CheckLong.pairsOf(all)) test(s"$mode, ${p.name}: exception in every $phase") {
      val fit = p.fit(mode, Fault(Fault.Throw, phase, partition = 1, again = true))
      val e = expect[SparkException](fit.solve())
      check(e.getMessage.contains(Fault.Message), e.getMessage)
      // Each gang is one attempt; after the last gang, driver mode has attempts of its own.
      val attempts = if (mode == "gang") Attempts + Attempts else Attempts
      check(fit.happened == Seq(attempts), fit.happened.toString)
      checkNothingLeft(spark)
    }
  }

  /** Removes the cached data with these ids from the executors; they stay marked as cached. */
  private def evict(ids: Seq[Int]): Unit = {
    // The removal waits for the tasks that read the data; in a gang these are the tasks of the whole fit.
    ids.foreach(SparkEnv.get.blockManager.master.removeRdd(_, blocking = false))
  }

  /** The directories where the executors keep files of shuffles. */
  private def localDirectories(spark: SparkSession): Seq[File] =
    // Every executor has one such directory, and a file of any name lies in a folder of it.
    onEach(spark)(() =>
      SparkEnv.get.blockManager.diskBlockManager.getFile("any").getParentFile.getParentFile).values.toSeq

  private def shuffleFiles(directories: Seq[File]): Seq[File] =
    directories
      .flatMap(d => Option(d.listFiles))
      .flatten
      .flatMap(d => Option(d.listFiles))
      .flatten
      .filter(_.getName.startsWith("shuffle_"))

  /** Counts failed fetches, and notes evicted data that Spark caches again. */
  private final class Recovery extends SparkListener {
    val fetchesFailed = new AtomicInteger()
    @volatile var cachedAgain = Set.empty[Int]
    @volatile var evicted = Set.empty[Int]
    override def onTaskEnd(end: SparkListenerTaskEnd): Unit = end.reason match {
      case _: FetchFailed => fetchesFailed.incrementAndGet()
      case _ =>
    }
    override def onBlockUpdated(update: SparkListenerBlockUpdated): Unit = update.blockUpdatedInfo.blockId match {
      case RDDBlockId(id, _) if evicted(id) && update.blockUpdatedInfo.storageLevel.isValid => cachedAgain += id
      case _ =>
    }
  }

  private def watching[T](spark: SparkSession)(body: Recovery => T): T = {
    val recovery = new Recovery
    spark.sparkContext.addSparkListener(recovery)
    try body(recovery)
    finally spark.sparkContext.removeSparkListener(recovery)
  }

  /** A gang reads its data when it begins, so only a gang that begins again misses them. */
  private def makesGangBeginAgain(mode: String, p: Problem): Seq[Fault] =
    if (mode == "gang") Seq(Fault(Fault.Throw, p.round, from = 6L, partition = 1)) else Seq.empty

  private def lostData(spark: SparkSession, problems: Seq[Problem], topics: Problem): Unit = {
    problems.foreach(evictedFromGang(spark, _))
    val losses = Seq[(SparkSession, String, Problem) => Unit](evictedBetweenRounds, evictedInRound, deletedData)
    val all = for ((mode, p) <- inModes(problems: _*); lose <- losses) yield (mode, p, lose)
    CheckLong.pairsOf(all).foreach { case (mode, p, lose) => lose(spark, mode, p) }
    Modes.foreach(deletedData(spark, _, topics))
  }

  /** Rows that stayed where they were are read again from the source. */
  private def lostRowsInPlace(spark: SparkSession, averaging: Linear, search: Linear): Unit = {
    rebuiltInPlace(spark, averaging)
    evictedFromGang(spark, averaging)
    evictedInRound(spark, "driver", averaging)
    Seq("shuffle", "gang").foreach(evictedBetweenRounds(spark, _, averaging))
    Modes.foreach(changedData(spark, _, averaging))
    Modes.foreach(killBetweenRounds(spark, _, search))
  }

  private def rebuiltInPlace(spark: SparkSession, p: Linear): Unit =
    test(s"${p.name}: partitions made again after an executor was killed have the same bits") {
      waitForExecutors(spark, 2)
      val form = RowForm(1.0, intercept = true, labels = Labels.Signed, mixed = true)
      // A worker of one source partition has its rows where they were read, whichever executor that was.
      val rows = spark.sparkContext.parallelize(p.rows.collect().toSeq, 2).map(_.toInternal)
      val training = TrainingReader.read(rows, Features, "in place")
      try {
        val data = training.scaled(2, form)
        check(!data.blocks.isMoved, data.blocks.placement)
        def bits(partitions: RDD[LocalData]) = partitions
          .map {
            case part: RowData =>
              part.blocks.toSeq.map { b =>
                Seq[Any](b.offsets, b.features, b.values32, b.values64, b.labels, b.weights).map {
                  case numbers: Array[_] => numbers.toSeq
                  case none => none
                }
              }
            case other => throw new IllegalStateException(s"partition ${other.index} has no rows")
          }
          .collect()
          .toSeq
        val before = bits(data.partitions)
        val sizes = data.summary.rowsPerPartition.toSeq
        check(sizes == Seq(1500, 1500), sizes.toString)
        val at = SparkEnv.get.blockManager.master.getLocations(RDDBlockId(trainingData(spark, "in place").head, 0)).head
        kill(executors(spark)(at.executorId))
        eventually("the executor is not lost")(DwellBridge.executorLocations(spark.sparkContext).size < 2)
        check(bits(data.forBarrier) == before, "other bits in a barrier stage")
        check(bits(data.partitions) == before, "other bits")
        waitForExecutors(spark, 2)
      } finally training.unpersist()
      checkNothingLeft(spark)
    }

  private def evictedFromGang(spark: SparkSession, p: Problem): Unit =
    test(s"gang, ${p.name}: data evicted, and not missed") {
      val fit = p.slowFit("gang")
      val solution = afterRound(spark)(uid => evict(trainingData(spark, uid)))(fit.solve())
      p.checkBits(solution)
      checkNothingLeft(spark)
    }

  private def evictedBetweenRounds(spark: SparkSession, mode: String, p: Problem): Unit =
    evicted(spark, mode, p, "between rounds")((fit, evict) => afterRound(spark)(evict)(fit.solve()))

  private def evictedInRound(spark: SparkSession, mode: String, p: Problem): Unit =
    evicted(spark, mode, p, "in the middle of a round", Fault(Fault.Sleep(500L), p.round, from = 3L)) { (fit, evict) =>
      val evicting = Future {
        while (fit.happened.head == 0) Thread.sleep(10)
        evict(fit.uid)
      }
      val solution = fit.solve()
      Await.result(evicting, Limit)
      solution
    }

  private def evicted(spark: SparkSession, mode: String, p: Problem, when: String, faults: Fault*)(
      solve: (FaultyFit, String => Unit) => Solved): Unit =
    test(s"$mode, ${p.name}: data evicted $when") {
      watching(spark) { recovery =>
        val fit = p.slowFit(mode, faults ++ makesGangBeginAgain(mode, p): _*)
        val solution = solve(
          fit,
          uid => {
            recovery.evicted = trainingData(spark, uid).toSet
            evict(recovery.evicted.toSeq)
          })
        p.check(solution)
        check(solution.facts.restarts == restarts(mode), s"${solution.facts.restarts} restarts")
        check(recovery.cachedAgain.nonEmpty && recovery.fetchesFailed.get == 0, "the data were not missed")
        checkNothingLeft(spark)
      }
    }

  private def deletedData(spark: SparkSession, mode: String, p: Problem): Unit =
    test(s"$mode, ${p.name}: data evicted, and deleted where they came from") {
      watching(spark) { recovery =>
        val directories = localDirectories(spark)
        val fit = p.slowFit(mode, makesGangBeginAgain(mode, p): _*)
        val solution = afterRound(spark) { uid =>
          recovery.evicted = (trainingData(spark, uid) ++ rowsAsRead(spark, uid)).toSet
          evict(recovery.evicted.toSeq)
          shuffleFiles(directories).foreach(_.delete())
        }(fit.solve())
        p.check(solution)
        check(recovery.fetchesFailed.get > 0, "the files were not missed")
        check(recovery.cachedAgain == recovery.evicted, s"${recovery.cachedAgain} of ${recovery.evicted}")
        checkNothingLeft(spark)
      }
    }

  private def unpersistedMeanwhile(spark: SparkSession): Unit =
    test("data released while Spark has forgotten the block managers of its executors") {
      // A heartbeat may bring a block manager back in the middle of an attempt.
      val forgotten = Iterator.fill(5)(unpersistForgotten(spark)).exists(_.nonEmpty)
      check(forgotten, "each time all of them were back too early")
    }

  /** Answers which executors Spark still did not know after it had been told to release the data. */
  private def unpersistForgotten(spark: SparkSession): Set[String] = {
    val sc = spark.sparkContext
    val ids = executors(spark).keySet
    val data = sc.makeRDD(DwellBridge.executorLocations(sc).map(location => (location, Seq(location)))).cache()
    data.count()
    val holding = onEach(spark)(() => Remains.here).collect { case (id, here) if here.cached(data.id) => id }.toSet
    check(holding == ids, s"$holding of $ids hold the data")
    ids.foreach(SparkEnv.get.blockManager.master.removeExecutor)
    Unpersist(data)
    val absent = DwellBridge.absentBlockManagers(sc)
    checkNothingLeft(spark)
    absent
  }

  private def changedData(spark: SparkSession, mode: String, p: Problem): Unit =
    test(s"$mode, ${p.name}: data evicted, and not the same when they are read again") {
      val directories = localDirectories(spark)
      val fit = p.fitOn(p.noisy, mode, makesGangBeginAgain(mode, p) :+ p.slow: _*)
      val e = expect[InputChangedException] {
        afterRound(spark) { uid =>
          evict(trainingData(spark, uid) ++ rowsAsRead(spark, uid))
          shuffleFiles(directories).foreach(_.delete())
        }(fit.solve())
      }
      check(e.getMessage.contains("not deterministic"), e.getMessage)
      checkNothingLeft(spark)
    }

  /** Uses one mode only, because no round has begun. */
  private def lostWhileFlattening(spark: SparkSession, p: Linear): Unit =
    test(s"${p.name}: files of the flattening deleted before they are read") {
      val files = new FilesAsWritten(spark, p.rows)
      val problem = p.problem("driver")
      def prepare(data: TrainingRows): Unit = {
        // Runs the passes that precede the flattening now, and only once.
        if (p.orientation == Orientation.Primal) data.columns(1) else data.scaled(1, RowForm(1.0, true, Labels.Signed))
        rowsAsRead(spark, problem.uid).foreach(SparkEnv.get.blockManager.master.removeRdd(_, blocking = true))
        files.delete()
      }
      val missed = files.missed(p)(new FaultyLinear(files.rows, Features, problem, Seq.empty, prepare))
      check(missed, "the files were not missed")
    }

  /** Between the first and the second pass over the documents no event occurs that a test could wait for. */
  private def lostWhileReading(spark: SparkSession, p: Topics): Unit =
    test(s"${p.name}: files of documents deleted before they are read") {
      // The second pass may find the block before the executor drops it.
      val missed = Iterator.fill(3) {
        val files = new FilesAsWritten(spark, forgettingFirst(p.rows))
        files.delete()
        files.missed(p)(p.fitOn(files.rows, "driver"))
      }
      check(missed.contains(true), "the files were not missed")
    }

  /** Deletes the files of a shuffle of rows while its last task still works. */
  private final class FilesAsWritten(spark: SparkSession, all: RDD[LabeledRow]) {
    private val directories = localDirectories(spark)
    private val last = all.getNumPartitions - 1
    private var deleting = Future.unit
    @volatile private var read = false

    /** All rows; the last partition takes a while. */
    val rows: RDD[LabeledRow] = {
      val last = this.last
      all.mapPartitionsWithIndex { (k, rows) =>
        if (k == last) Thread.sleep(1500)
        rows
      }
    }

    def delete(): Unit = {
      val earlier = shuffleFiles(directories).toSet
      deleting = Future {
        def written = shuffleFiles(directories).filter(f => f.getName.endsWith(".data") && !earlier(f))
        while (!read && written.size < last) Thread.sleep(10)
        written.foreach(_.delete())
      }
    }

    /** Solves the problem on the rows; whether Spark missed their files meanwhile. */
    def missed(p: Problem)(fit: => FaultyFit): Boolean = watching(spark) { recovery =>
      try p.check(fit.solve())
      finally read = true // or the files of later fits would be deleted
      Await.result(deleting, Limit)
      checkNothingLeft(spark)
      recovery.fetchesFailed.get > 0
    }
  }

  /** The same rows. The executor drops the first block that it makes of the last partition, which is therefore read
   * again. */
  private def forgettingFirst(rows: RDD[LabeledRow]): RDD[LabeledRow] = {
    val (last, notes) = (rows.getNumPartitions - 1, Files.createTempDirectory("dwell-forgetting-").toString)
    rows.mapPartitionsWithIndex { (k, rows) =>
      if (k == last && new File(notes, "forgotten").createNewFile()) forgetNext(last)
      rows
    }
  }

  /** Removes the next block of that partition stored here, as soon as the task that makes it has ended. */
  private def forgetNext(partition: Int): Unit = {
    val blocks = SparkEnv.get.blockManager
    def all = blocks.getMatchingBlockIds(_.asRDDId.exists(_.splitIndex == partition)).toSet
    val earlier = all
    val removing = new Thread(() => {
      while ((all -- earlier).isEmpty) Thread.sleep(1)
      // Waits for the task, which holds a lock on the block.
      (all -- earlier).foreach(blocks.removeBlock(_))
    })
    removing.setDaemon(true)
    removing.start()
  }

  /** In shuffle mode only the executors hold the topics, also in the first round. */
  private def lostFirstTopics(spark: SparkSession, p: Topics): Unit =
    test(s"shuffle, ${p.name}: the first topics evicted before they are averaged") {
      val atWork = Fault(Fault.Sleep(1500L), p.round)
      val asked = Fault(Fault.Sleep(0L), p.round, partition = 1, again = true)
      val fit = p.fit("shuffle", atWork, asked)
      val evicting = Future {
        while (fit.happened.head == 0) Thread.sleep(10)
        val models = spark.sparkContext.getPersistentRDDs.collect {
          case (id, data) if Option(data.name).exists(_.startsWith("dwell: model ")) => id
        }
        evict(models.toSeq)
      }
      val solution = fit.solve()
      Await.result(evicting, Limit)
      p.check(solution)
      val rounds = p.reference.facts.rounds.map(_.round)
      check(solution.facts.rounds.map(_.round) == rounds, solution.facts.rounds.map(_.round).toString)
      // The first round was made twice.
      check(fit.happened.last == rounds.last + 1, s"${fit.happened}")
      checkNothingLeft(spark)
    }

  /** When a shuffle file of an executor is missing, Spark takes the executor off its list of block managers until it
   * hears from it. */
  private def stateOfForgotten(spark: SparkSession): Unit =
    test("states are freed on executors that Spark has taken off its list of block managers") {
      val fit = 1L
      val all = onEach(spark)(() => FaultyFit.leaveState(fit)).keys
      check(all.size == 2, all.toString)
      all.foreach(SparkEnv.get.blockManager.master.removeExecutor)
      FaultyFit.free(spark.sparkContext, fit)
      check(executors(spark).size == 2, "not every executor has answered")
      checkNothingLeft(spark)
    }

  private def cancellations(spark: SparkSession, problems: Seq[Problem], topics: Problem): Unit = {
    val all = for ((mode, p) <- inModes(problems: _*); interrupt <- Seq(false, true)) yield (mode, p, interrupt)
    for ((mode, p, interrupt) <- CheckLong.pairsOf(all) ++ Modes.map((_, topics, false))) {
      test(s"$mode, ${p.name}: cancelled in the middle of a round${if (interrupt) ", with interrupts" else ""}") {
        val sc = spark.sparkContext
        val fit = p.endless(mode, Fault(Fault.Sleep(0L), p.round))
        val cancelled = Future {
          while (fit.happened != Seq(1)) Thread.sleep(10)
          Thread.sleep(300) // until the solver is at work
          sc.cancelJobGroup(fit.uid)
        }
        sc.setJobGroup(fit.uid, "to be cancelled", interrupt)
        val e =
          try expect[SparkException](fit.solve())
          finally sc.clearJobGroup()
        check(e.getMessage.contains("cancelled"), e.getMessage)
        Await.result(cancelled, Limit)
        // None of them would end by itself.
        eventually("tasks go on")(sc.statusTracker.getExecutorInfos.forall(_.numRunningTasks() == 0))
        checkNothingLeft(spark)
      }
    }
  }

  private def roundsOfBrokenGang(spark: SparkSession, p: Problem): Unit =
    test(s"gang, ${p.name}: rounds of a gang that broke count, and are reported") {
      val (most, before) = (8, 5)
      val asked = Fault(Fault.Sleep(0L), p.round, partition = 1, again = true)
      val thrown = Fault(Fault.Throw, p.round, from = before.toLong, partition = 1)
      val fit = p.fitOf(most, "gang", asked, thrown, p.slow)
      val solution = fit.solve()
      val rounds = solution.facts.rounds
      check(rounds.map(_.round) == (0 to most), rounds.map(_.round).toString)
      check(rounds.map(_.elapsed) == rounds.map(_.elapsed).sorted, rounds.map(_.elapsed).toString)
      check(
        solution.facts.restarts == 1 && fit.happened.head == most + 1,
        s"${solution.facts.restarts}, ${fit.happened}")
      checkNothingLeft(spark)
    }

  /** @param searchesAgain searches for a step size in addition to those of an undisturbed fit; a leader that takes
   * over knows the results of earlier searches */
  private def survives(
      spark: SparkSession,
      mode: String,
      p: Problem,
      name: String,
      faults: Seq[Fault],
      searchesAgain: Int = 0)(solve: FaultyFit => Solved): Unit =
    test(s"$mode, ${p.name}: executor killed $name") {
      waitForExecutors(spark, 2)
      val fit = p.fit(mode, p.searched +: faults: _*)
      val solution = countingKills(fit)(solve(fit))
      p.check(solution)
      check(solution.facts.restarts == restarts(mode), s"${solution.facts.restarts} restarts")
      check(
        fit.happened.head == p.searches + searchesAgain,
        s"searched ${fit.happened.head} times, and undisturbed ${p.searches} times")
      checkNothingLeft(spark)
    }

  /** Executors are killed in each of these ways, for problems in the modes that are given with it. */
  private def kills(
      spark: SparkSession,
      betweenRounds: Seq[(String, Problem)],
      atWork: Seq[(String, Problem)],
      outsideRounds: Seq[(String, Problem)],
      inLineSearch: Seq[(String, Problem)]): Unit = {
    val ways = Seq[((SparkSession, String, Problem) => Unit, Seq[(String, Problem)])](
      (killBetweenRounds, betweenRounds),
      (killAtWork, atWork),
      (killInSearch, outsideRounds),
      (killInEvaluation, outsideRounds),
      (killInLineSearch, inLineSearch))
    val all = for ((kill, problems) <- ways; (mode, p) <- problems) yield (mode, p, kill)
    CheckLong.valuesOf(all).foreach { case (mode, p, kill) => kill(spark, mode, p) }
  }

  private def killBetweenRounds(spark: SparkSession, mode: String, p: Problem): Unit =
    survives(spark, mode, p, "between rounds", Seq(p.slow))(fit => withExecutorKilled(spark)(fit.solve()))

  private def killAtWork(spark: SparkSession, mode: String, p: Problem): Unit = {
    val atWork = Fault(Fault.KillExecutor, p.round, from = 3L, afterWork = true)
    survives(spark, mode, p, "after the work of a round", Seq(atWork))(_.solve())
  }

  /** Before the first round. */
  private def killInSearch(spark: SparkSession, mode: String, p: Problem): Unit =
    survives(spark, mode, p, "in the first search", Seq(Fault(Fault.KillExecutor, "search")), searchesAgain = 1)(
      _.solve())

  /** After the last round. */
  private def killInEvaluation(spark: SparkSession, mode: String, p: Problem): Unit =
    survives(spark, mode, p, "in the first pass", Seq(Fault(Fault.KillExecutor, "pass")))(_.solve())

  /** Kills a few iterations before the end. */
  private def killInLineSearch(spark: SparkSession, mode: String, p: Problem): Unit = {
    val slow = Fault(Fault.Sleep(60L), "pass", again = true)
    survives(spark, mode, p, "in the middle of L-BFGS", Seq(slow)) { fit =>
      withExecutorKilled(spark, after = p.reference.facts.rounds.last.round - 2)(fit.solve())
    }
  }

  /** In shuffle mode only the executors hold the models. */
  private def allKilled(spark: SparkSession, p: Problem): Unit =
    test(s"shuffle, ${p.name}: all executors killed, and with them all models") {
      waitForExecutors(spark, 2)
      val pids = executors(spark).values
      val fit = p.fit("shuffle", p.searched, p.slow)
      val solution = afterRound(spark)(_ => pids.foreach(kill))(fit.solve())
      // The rounds begin again from the start, and repeat exactly.
      p.check(solution)
      val last = p.reference.facts.rounds.last.round
      check(solution.facts.rounds.map(_.round) == (0 to last), solution.facts.rounds.map(_.round).toString)
      val Seq(searches, descents) = fit.happened
      check(searches == p.searches && descents >= last + 3, s"$searches searches, $descents descents")
      checkNothingLeft(spark)
    }

  private def killedTwice(spark: SparkSession, p: Problem): Unit =
    test("gang: executor killed, and another one when the gang begins again") {
      waitForExecutors(spark, 2)
      val faults = Seq("round", "start").map(Fault(Fault.KillExecutor, _))
      val fit = p.fit("gang", faults: _*)
      val solution = countingKills(fit)(fit.solve())
      p.check(solution)
      check(solution.facts.restarts == 2 && fit.happened == Seq(1, 1), s"${solution.facts.restarts}, ${fit.happened}")
      checkNothingLeft(spark)
    }

  /** Each fit gives the same result as alone. */
  private def twoAtOnce(spark: SparkSession, data: DataFrame): Unit = {
    val classes = binary(data)
    def ridge(mode: String) = pair(mode).setMaxIter(25).setTol(0.0).fit(data).coefficients
    def logistic = new LogisticRegression().setRegParam(0.01).setNumWorkers(2).setTol(0.0)
    def dual(mode: String) =
      logistic.setOrientation("dual").setLocalWork(0.5).setAggregation(mode).setMaxIter(25).fit(classes).coefficients
    def averaged(mode: String) =
      logistic.setAlgorithm("ma-sgd").setAggregation(mode).setMaxIter(15).fit(classes).coefficients
    val same = Modes.map(m => (m, m))
    val mixed = Modes.combinations(2).map(ms => (ms(0), ms(1))).toSeq
    val all = CheckLong.pairsOf(
      (same ++ mixed).map { case (one, other) => ("cocoa", one, other) } ++
        same.map { case (one, other) => ("ma-sgd", one, other) })
    for (mode <- Modes) test(s"two fits at once of topics in $mode mode: each as alone") {
      def found(k: Int) = topics(mode).setK(k).fit(data).topicsMatrix
      val alone = (found(3), found(4))
      val together = Future(found(4))
      check(found(3) == alone._1, "the first has other bits")
      check(Await.result(together, Limit) == alone._2, "the second has other bits")
      checkNothingLeft(spark)
    }
    lazy val alone = Map("ridge" -> ridge("driver"), "cocoa" -> dual("driver"), "ma-sgd" -> averaged("driver"))
    for ((name, one, other) <- all)
      test(s"two fits at once, cocoa in $one mode and $name in $other mode: each as alone") {
        val together = Future(if (name == "cocoa") dual(other) else averaged(other))
        check(ridge(one) == alone("ridge"), "the first has other bits")
        check(Await.result(together, Limit) == alone(name), "the second has other bits")
        checkNothingLeft(spark)
      }
  }

  /** In every mode all topics come to the driver at the end; in driver mode those of every worker come in each round.
   * */
  private def tooLargeForDriver(spark: SparkSession, data: DataFrame): Unit =
    for (mode <- Modes) test(s"$mode: topics for which spark.driver.maxResultSize is too small, and others") {
      // 5.8 million bytes.
      val e = expect[IllegalArgumentException](topics(mode).setK(160).fit(data))
      check(e.getMessage.contains("more than spark.driver.maxResultSize (4194304)"), e.getMessage)
      checkNothingLeft(spark)
      // 3.6 million, and 0.7.
      topics(mode).setK(if (mode == "driver") 20 else 100).fit(data)
      checkNothingLeft(spark)
    }

  /** The resources of a process; the heap is that after a garbage collection. */
  private final case class Footprint(threads: Int, blocks: Int, heap: Long)

  private def footprint(): Footprint = {
    System.gc()
    val heap = ManagementFactory.getMemoryMXBean.getHeapMemoryUsage.getUsed
    Footprint(Thread.activeCount(), SparkEnv.get.blockManager.getMatchingBlockIds(_ => true).size, heap)
  }

  private def thirtyFits(spark: SparkSession, mode: String, data: DataFrame): Unit =
    test(s"$mode: thirty fits one after another leave nothing behind") {
      def fits(n: Int): Unit = (1 to n).foreach(_ => pair(mode).setMaxIter(2).fit(data))
      def persistent = spark.sparkContext.getPersistentRDDs.size
      def footprints = {
        System.gc() // Spark's own cleaner waits for that of the driver
        onEach(spark)(() => footprint()) + ("driver" -> footprint())
      }
      fits(5)
      checkNothingLeft(spark)
      val cached = persistent
      val before = footprints
      fits(30)
      checkNothingLeft(spark)
      check(persistent == cached, s"$cached persistent data before, $persistent after")
      var after = footprints
      eventually(s"before $before, after $after") {
        after = footprints
        after.forall { case (id, now) =>
          val earlier = before(id)
          // Spark's thread pools grow up to their limits; leftovers of every fit would be thirty times as much.
          now.threads < earlier.threads + 25 && now.blocks < earlier.blocks + 25 && now.heap < earlier.heap + HeapGrowth
        }
      }
      println(s"        before $before\n        after  $after")
    }

  /** In bytes; thirty fits cache three times as much on an executor. */
  private val HeapGrowth = 8L * 1024 * 1024

  private def speculation(spark: SparkSession, mode: String, p: Problem, phase: String, afterWork: Boolean): Unit = {
    val when = s"${if (afterWork) "after" else "before"} the work of a $phase"
    test(s"$mode, ${p.name}: slow task, $when, ${if (mode == "gang") "never " else ""}copied") {
      val barriers = ConcurrentHashMap.newKeySet[Int]()
      val copied = ConcurrentHashMap.newKeySet[Int]()
      val listening = new SparkListener {
        override def onStageSubmitted(submitted: SparkListenerStageSubmitted): Unit =
          if (submitted.stageInfo.rddInfos.exists(_.isBarrier)) barriers.add(submitted.stageInfo.stageId)
        override def onTaskStart(start: SparkListenerTaskStart): Unit =
          if (start.taskInfo.speculative) copied.add(start.stageId)
      }
      val fit = p.fit(mode, Fault(Fault.Sleep(2000L), phase, from = 3L, afterWork = afterWork))
      spark.sparkContext.addSparkListener(listening)
      val solution =
        try fit.solve()
        finally spark.sparkContext.removeSparkListener(listening)
      p.check(solution)
      // Spark does not copy tasks of barrier stages. On a busy machine it copies tasks of any other stage, as those
      // that deal out the data.
      if (mode == "gang") check(!barriers.isEmpty && Collections.disjoint(barriers, copied), s"$barriers, $copied")
      else check(!copied.isEmpty, "no copy")
      check(
        fit.happened == Seq(1) && solution.facts.restarts == 0,
        s"${fit.happened}, ${solution.facts.restarts} restarts")
      checkNothingLeft(spark)
    }
  }
}
