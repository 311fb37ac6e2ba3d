package dwell.cluster

import java.nio.file.{FileAlreadyExistsException, Files, Paths}

import scala.util.Try

import org.apache.spark.{DwellBridge, SparkEnv}
import org.apache.spark.ml.classification.LogisticRegressionModel
import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession

import dwell.CheckLong
import dwell.comm.{ModelLostException, ModelStore, Workers}
import dwell.comm.ReplicasChecks._
import dwell.comm.gang.Gang
import dwell.comm.jobs.ShuffleMode
import dwell.comm.wire.VectorFormat
import dwell.ml.classification.LogisticRegression
import dwell.report.FitReport

/**
 * Models that all workers hold, and vectors that they hold in slices, on three executors with several task slots each. spark-submit runs it on a
 * `local-cluster`. Prints `N passed, N failed` and ends with status 1 if anything failed.
 */
object ReplicasTest extends Harness {
  private val Executors = 3
  private val Length = 20011
  private val first = new Array[Byte](8 * Length)
  private var fits = 0L

  /** Only cases whose names contain this run. */
  private var selection = ""

  def main(args: Array[String]): Unit = {
    selection = args.headOption.getOrElse("")
    // Workers must run where their data are, however busy the machine is.
    val spark =
      SparkSession.builder().appName("dwell replicas tests").config("spark.locality.wait", "4s").getOrCreate()

    // ReplicasSuite tests more lengths, and driver mode.
    val sums =
      for (mode <- Seq("shuffle", "gang"); k <- Seq(1, 2, 3, 8); length <- (k - 1) +: slicedLengths(k))
        yield (mode, k, length)
    for ((mode, k, length) <- CheckLong.pairsOf(sums)) {
      onModels(spark, s"$mode, $k workers, models of $length: replicas with the bits of a plain sum", k) {
        (data, fit) =>
          val seen = led(mode, data, fit, length)(step(length)) { workers =>
            val seen = story(length)(workers)
            if (mode == "shuffle") workers.release()
            seen
          }
          check(seen == expected(k, length), s"$seen\ninstead of\n${expected(k, length)}")
          if (mode == "gang") {
            val held = onEach(spark)(() => ModelStore.entries).values.toSeq.sorted
            val used = math.min(k, Executors)
            check(held == Seq.fill(Executors - used)(0) ++ Seq.fill(used)(3), s"models on each executor: $held")
          }
      }
    }

    onModels(spark, "gang: workers whose data is on one executor run on all executors", 3, at = _ => 0) { (data, fit) =>
      val seen = led("gang", data, fit, Length)(step(Length))(story(Length))
      check(seen == expected(3, Length), s"$seen")
      val held = onEach(spark)(() => ModelStore.entries).values.toSeq
      check(held == Seq(3, 3, 3), s"models on each executor: $held")
    }

    onModels(spark, "shuffle: neither files nor blocks become more with the rounds", 3) { (data, fit) =>
      val workers = new ShuffleMode(data, fit, VectorFormat(HeaderBytes, Length))(step(Length))
      workers.distribute(0L, first, None, "distribute")
      (1 to 15).foreach(i => workers.allReduce(i, i - 1L, i.toLong, Set(0L), None, "allReduce"))
      def remains = onEach(spark)(() => Remains.here).values.toSeq
      eventually(s"files of shuffles are left: $remains")(remains.forall(_.shuffles.isEmpty))
      // Models 0, 14 and 15 in three slices, each in two places, and the data.
      eventually(s"${blocks(spark)} blocks")(blocks(spark) == 3 * 3 * 2 + 3)
      workers.release()
    }

    for (waiting <- Seq(false, true)) {
      val when = if (waiting) "after the step of its worker" else "during the step of its worker"
      onModels(spark, s"shuffle: an executor killed $when costs this step", 3) { (data, fit) =>
        val notes = new Notes
        val pids = executors(spark)
        val at = data.map(_ => SparkEnv.get.executorId).collect()
        check(at.distinct.length == 3, s"the workers are on ${at.mkString(", ")}")
        if (waiting) notes.when(Waits)(ProcessHandle.of(pids(at(0))).get.destroyForcibly())
        val disturbed = if (waiting) waitingFor(worker = 0, notes.directory) else killing(worker = 0, notes.directory)
        val seen = led("shuffle", data, fit, Length)(disturbed) { workers =>
          val seen = story(Length)(workers)
          workers.release()
          seen
        }
        check(seen == expected(3, Length), "other bits")
        check(executors(spark) != pids, "no executor was killed")
        // Worker and message of each step. The story asks each worker six times.
        val steps = notes.all.filter(_.startsWith("step")).map(_.split("-").toSeq.slice(1, 3).map(_.toInt))
        val repeated = steps.diff(steps.distinct).sortBy(_.head)
        check(steps.distinct.size == 6 * 3, s"$steps")
        // Spark begins a stage again if a file is missing, and runs its unfinished tasks wherever slots are free. So
        // for this step alone it may ask those workers again that were about to read from the executor or had not
        // ended yet.
        val possible = (0 to 2).map(Seq(_, Disturbed))
        check(repeated.headOption.contains(Seq(0, Disturbed)) && repeated.diff(possible).isEmpty, s"$repeated again")
        notes.delete()
      }
    }

    onModels(spark, "shuffle: a model is lost with all executors that held it", 3) { (data, fit) =>
      val workers = new ShuffleMode(data, fit, VectorFormat(HeaderBytes, Length))(step(Length))
      workers.distribute(1L, first, Some("first"), "distribute")
      val before = executors(spark)
      before.values.foreach(pid => ProcessHandle.of(pid).get.destroyForcibly())
      val lost = Try(workers.allReduce(1, 1L, 2L, Set.empty, None, "allReduce")).failed.get
      check(lost.isInstanceOf[ModelLostException] && lost.getMessage.contains("of model 1 of fit"), lost.toString)
      eventually(s"none of ${before.keys} was lost")(onEach(spark)(() => ()).keys.forall(!before.contains(_)))
      waitForExecutors(spark, Executors)
      check(workers.recover("nothing is left").isEmpty, "a model was found")
      workers.distribute(2L, first, None, "distribute again")
      workers.allReduce(2, 2L, 3L, Set.empty, None, "allReduce")
      check(hash(workers.collect(3L, "collect")) == hash(sum(2, 3, Length)), "other bits")
      workers.release()
    }

    def gangLoses(k: Int, victim: Int): Unit =
      onModels(spark, s"a gang of $k that loses worker $victim: the next goes on from the newest model", k) {
        (data, fit) =>
          val notes = new Notes
          val broken = Try(led("gang", data, fit, Length)(killing(victim, notes.directory)) { workers =>
            workers.distribute(1L, first, Some("first"), "distribute")
            workers.allReduce(2, 1L, 2L, Set.empty, Some("second"), "second")
            workers.allReduce(Disturbed, 2L, 3L, Set.empty, Some("third"), "breaks")
          })
          check(broken.failed.toOption.exists(_.isInstanceOf[Gang.BrokenException]), broken.toString)
          val impossible = Gang.impossible(data.sparkContext, k, patienceMillis = 60000L)
          check(impossible.isEmpty, impossible.toString)
          val (version, note, found, seen, made) = led("gang", data, fit, Length)(step(Length)) { workers =>
            val found = workers.recover("recover").get
            workers.distribute(found.version, found.model, None, "distribute again")
            val replies = workers.allReduce(Disturbed, found.version, 3L, Set.empty, None, "goes on")
            (
              found.version,
              found.note,
              hash(found.model),
              replies.scalars.distinct.toSeq,
              hash(workers.collect(3L, "made")))
          }
          check(version == 2L && note == "second" && found == hash(sum(2, k, Length)), s"$version, $note")
          check(seen == Seq(hash(sum(2, k, Length))) && made == hash(sum(Disturbed, k, Length)), "other bits")
          notes.delete()
      }
    Seq((2, 0), (8, 1)).foreach { case (k, victim) => gangLoses(k, victim) }
    CheckLong.only(2)(Seq((2, 1), (8, 0)).foreach { case (k, victim) => gangLoses(k, victim) })

    onSlices(
      spark,
      "an executor killed in mid-fit costs progress, not correctness: L-BFGS whose workers have the vectors")

    finish(spark)
  }

  private def onSlices(spark: SparkSession, name: String): Unit =
    if (name.contains(selection)) test(name) {
      waitForExecutors(spark, Executors)
      val random = new scala.util.Random(6)
      val rows = Seq.fill(200) {
        val at = Array.fill(20)(random.nextInt(300000)).distinct.sorted
        (if (at.sum % 2 == 0) 1.0 else 0.0, Vectors.sparse(300000, at, at.map(_ => random.nextGaussian())))
      }
      val wide =
        spark.createDataFrame(spark.sparkContext.parallelize(rows, 4)).toDF("label", "features").cache()
      def fit: LogisticRegressionModel = new LogisticRegression()
        .setAlgorithm("l-bfgs")
        .setAggregation("gang")
        .setNumWorkers(4)
        .setRegParam(1e-7)
        .setTol(1e-14)
        .setMaxIter(400)
        .fit(wide)
      val expected = fit
      val model = withExecutorKilled(spark)(fit)
      val report = FitReport.of(model)
      check(report.algorithm == "l-bfgs" && report.aggregation == "gang" && report.restarts > 0, report.toText)
      check(model.coefficients == expected.coefficients, "the coefficients are others")
      checkNothingLeft(spark)
      wide.unpersist()
    }

  /**
   * A test with data of its own; it must leave nothing behind.
   *
   * @param at
   *   number of the executor that holds a partition; without it each of them in turn
   */
  private def onModels(spark: SparkSession, name: String, k: Int, at: Int => Int = _ % Executors)(
      body: (RDD[Int], Long) => Unit): Unit =
    if (name.contains(selection)) test(name) {
      waitForExecutors(spark, Executors)
      val sc = spark.sparkContext
      val locations = DwellBridge.executorLocations(sc)
      val data = sc.makeRDD((0 until k).map(i => (i, Seq(locations(at(i)))))).cache()
      data.count()
      fits += 1
      val fit = fits
      try body(data, fit)
      catch {
        case e: Throwable =>
          // Only a body that ends well has released its models.
          sc.getPersistentRDDs.values
            .filter(rdd => Option(rdd.name).exists(_.endsWith(s"of fit $fit")))
            .foreach(_.unpersist())
          throw e
      } finally {
        data.unpersist()
        waitForExecutors(spark, Executors)
        onEach(spark)(() => ModelStore.free(fit))
      }
      checkNothingLeft(spark)
    }

  /** Blocks of RDDs on all executors. */
  private def blocks(spark: SparkSession): Int =
    onEach(spark)(() => SparkEnv.get.blockManager.getMatchingBlockIds(_.isRDD).size).values.sum

  /** The message during which a worker is disturbed. */
  private val Disturbed = 3

  private val Waits = "waits"

  /** The step; a note records every start. One worker's step kills its executor, once. */
  private def killing(worker: Int, notes: String): Workers.Step[Int, Int, String] = (k, message, shared) => {
    Files.createTempFile(Paths.get(notes), s"step-$k-$message-", "")
    // Java offers a process no way to send itself SIGKILL; halt skips hooks and finally blocks, too.
    if (k == worker && message == Disturbed && once(notes, "killed")) Runtime.getRuntime.halt(137)
    step(Length)(k, message, shared)
  }

  /** The same step, but the other workers wait once until this worker has done its step and its executor is gone. */
  private def waitingFor(worker: Int, notes: String): Workers.Step[Int, Int, String] = (k, message, shared) => {
    Files.createTempFile(Paths.get(notes), s"step-$k-$message-", "")
    if (message == Disturbed) {
      if (k == worker) once(notes, "done")
      else if (once(notes, s"waited-$k")) {
        while (!Files.exists(Paths.get(notes, "done"))) Thread.sleep(20)
        Thread.sleep(1000) // until the driver knows that the other step is done
        once(notes, Waits)
        Thread.sleep(3000) // until it knows that the executor is lost
      }
    }
    step(Length)(k, message, shared)
  }

  private def once(notes: String, name: String): Boolean =
    try {
      Files.createFile(Paths.get(notes, name))
      true
    } catch { case _: FileAlreadyExistsException => false }

  /** Notes between the processes of a test: empty files. */
  private final class Notes {
    private val path = Files.createTempDirectory("dwell-replicas-")
    def directory: String = path.toString
    def all: Seq[String] = path.toFile.list.toSeq

    /** Runs `action`, in a thread of its own, once this note exists. */
    def when(name: String)(action: => Any): Unit = {
      val watcher = new Thread(() => {
        while (!Files.exists(path.resolve(name))) Thread.sleep(20)
        action
        ()
      })
      watcher.setDaemon(true)
      watcher.start()
    }

    def delete(): Unit = (path.toFile.listFiles.map(_.toPath) :+ path).foreach(Files.delete(_))
  }
}
