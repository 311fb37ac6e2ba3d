package dwell.comm

import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}

import scala.collection.mutable

import org.apache.spark.{BlockExchange, SparkEnv}
import org.apache.spark.scheduler.{SparkListener, SparkListenerJobEnd, SparkListenerJobStart, SparkListenerTaskEnd}
import org.apache.spark.sql.SparkSession
import org.apache.spark.storage.RDDBlockId
import org.scalatest.BeforeAndAfterAll

import dwell.{CheckLong, LimitedSuite, SparkSuite}
import dwell.comm.gang.Gang
import dwell.comm.jobs.ShuffleMode
import dwell.comm.wire.{Numbers, VectorFormat}

/** Models that all workers hold, in each mode, in a session of the suite's own with slots for gangs of eight. */
class ReplicasSuite extends LimitedSuite with BeforeAndAfterAll {
  import ReplicasChecks._

  private lazy val spark: SparkSession = SparkSuite.fresh(master = "local[8]")
  private def sc = spark.sparkContext

  override def afterAll(): Unit = spark.stop()

  private val fits = new AtomicInteger()

  private def nextFit(): Long = fits.incrementAndGet().toLong

  private def rddBlocks = SparkEnv.get.blockManager.getMatchingBlockIds(_.isRDD)
  private def shuffleFiles = SparkEnv.get.blockManager.diskBlockManager.getAllBlocks().count(_.isShuffle)

  private def lead[R](mode: String, k: Int, length: Int, fit: Long)(lead: Lead[R]): R =
    this.lead(mode, k, length, fit, step(length))(lead)

  private def lead[R](mode: String, k: Int, length: Int, fit: Long, step: Workers.Step[Int, Int, String])(
      lead: Lead[R]): R = {
    val result = led(mode, sc.parallelize(0 until k, k), fit, length)(step)(lead)
    assert(BlockExchange.local.count("dwell") == 0, "messages are left")
    result
  }

  private def cases(workers: Seq[Int], lengths: Int => Seq[Int]): Seq[(String, Int, Int)] =
    for (mode <- Modes; k <- workers; length <- lengths(k)) yield (mode, k, length)

  for ((mode, k, length) <- CheckLong.pairsOf(cases(Seq(1, 2, 3, 8), lengths))) {
    test(s"$mode, $k workers, models of $length: replicas with the bits of a plain sum") {
      val (seen, held) = lead(mode, k, length, nextFit()) { workers =>
        val seen = story(length)(workers)
        val held = ModelStore.entries
        workers.release()
        (seen, held)
      }
      assert(seen == expected(k, length))
      assert(held == (if (mode == "gang") 3 else 0), "models 3, 7 and 8, once for all workers")
      assert(ModelStore.entries == 0 && sc.getPersistentRDDs.isEmpty)
    }
  }

  for ((mode, k, length) <- CheckLong.pairsOf(cases(Seq(1, 2, 3, 8), 200 +: slicedLengths(_)))) {
    test(s"$mode, $k workers, models of $length: the bits of a plain sum, however contributions travel") {
      val seen = lead(mode, k, length, nextFit(), mixed(length)) { workers =>
        val seen = mixedStory(length)(workers)
        workers.release()
        seen
      }
      assert(seen == expectedMixed(k, length))
    }
  }

  private val floats =
    for ((mode, k, length) <- cases(Seq(2, 3), 200 +: slicedLengths(_)); touched <- Seq(0.05, 0.95))
      yield (mode, k, length, touched)

  for ((mode, k, length, touched) <- CheckLong.pairsOf(floats)) {
    test(s"$mode, $k workers, $length pairs of floats, $touched of them not as predicted: the bits of a plain sum") {
      val first = Array.tabulate(2 * length)(j => 1.0f / (1 + j))
      val seen = led(mode, sc.parallelize(0 until k, k), nextFit(), length, Numbers.Floats)(decayingFloats(touched))(
        floatStory(first, rounds = 3))
      assert(seen == expectedFloats(k, first, rounds = 3, touched))
    }
  }

  /** Bytes of the results and of the shuffle of the only job of `body`. */
  private def ofJob(body: => Any): Long = {
    val bytes = new AtomicLong()
    val ended = new AtomicInteger()
    val listener = new SparkListener {
      // The end of an earlier job may arrive late.
      private val stages = mutable.Map.empty[Int, Set[Int]]
      override def onJobStart(start: SparkListenerJobStart): Unit = stages(start.jobId) = start.stageIds.toSet
      override def onTaskEnd(end: SparkListenerTaskEnd): Unit =
        if (stages.values.exists(_(end.stageId))) {
          bytes.addAndGet(end.taskMetrics.resultSize + end.taskMetrics.shuffleWriteMetrics.bytesWritten)
        }
      override def onJobEnd(end: SparkListenerJobEnd): Unit = if (stages.contains(end.jobId)) ended.incrementAndGet()
    }
    sc.addSparkListener(listener)
    try {
      body
      eventually(assert(ended.get == 1))
    } finally sc.removeSparkListener(listener)
    bytes.get
  }

  for ((mode, k, length) <- CheckLong.pairsOf(cases(Seq(2, 5), _ => Seq(1003, 600001)))) {
    test(s"$mode, $k workers, models of $length: what can be predicted does not travel") {
      def travels(known: Boolean): Long = {
        val step = decaying(length, 0.05, known)
        if (mode == "gang") lead(mode, k, length, nextFit(), step)(inGang(firstModel(length))).contributions
        else
          lead(mode, k, length, nextFit(), step) { workers =>
            workers.distribute(0L, firstModel(length), None, "distribute")
            val bytes = ofJob(workers.allReduce(1, 0L, 1L, Set.empty, None, "allReduce"))
            workers.release()
            bytes
          }
      }
      // In a gang no member sends to itself.
      val vectors = 8L * length * (if (mode == "gang") k - 1 else k)
      val saved = travels(known = false) - travels(known = true)
      assert(saved > 0.75 * vectors && saved < vectors)
    }
  }

  for (k <- Seq(2, 5); length <- Seq(1003, 600001)) {
    test(s"a gang of $k, models of $length: zeros do not travel, neither in contributions nor in models") {
      val model = new Array[Double](length)
      model(7) = 1.0
      val sent = lead("gang", k, length, nextFit(), sparse(length))(inGang(bytes(model)))
      val (vectors, names) = (8L * length * (k - 1), 500L * k)
      assert(sent.contributions < 0.06 * vectors + names)
      assert(sent.orders < 0.04 * vectors + names)
      // A sum contains the entries of all workers.
      assert(sent.models < 0.15 * vectors + names)
    }
  }

  test("shuffle: neither files nor blocks become more with the rounds") {
    val workers = new ShuffleMode(sc.parallelize(0 until 3, 3), nextFit(), VectorFormat(HeaderBytes, 1003))(step(1003))
    workers.distribute(0L, new Array[Byte](8 * 1003), None, "distribute")
    for (round <- 1L to 20L) {
      workers.allReduce(round.toInt, round - 1, round, Set(0L), None, "allReduce")
      workers.ask(0, round, "ask")
      assert(sc.getPersistentRDDs.size == (if (round == 1L) 2 else 3))
    }
    eventually(assert(rddBlocks.size == 3 * 3 && shuffleFiles == 0))
    workers.release()
    eventually(assert(rddBlocks.isEmpty))
  }

  for (mode <- Modes; k <- Seq(1, 2, 5); failing <- Seq(0, k - 1).distinct; length <- Seq(10, 20011)) {
    test(s"$mode: what worker $failing of $k says to the user is thrown, models of $length") {
      val fit = nextFit()
      val e = intercept[Exception] {
        lead(mode, k, length, fit, failingAt(failing, length)) { workers =>
          workers.distribute(1L, new Array[Byte](8 * length), None, "distribute")
          try for (i <- 1 to 3) workers.allReduce(i, i.toLong, i + 1L, Set.empty, None, "allReduce")
          finally if (mode == "shuffle") workers.release()
        }
      }
      val cause = if (mode == "gang") e else e.getCause
      assert(cause.isInstanceOf[IllegalArgumentException] && cause.getMessage == s"worker $failing does not like 2")
      assert(sc.getPersistentRDDs.isEmpty)
      eventually(assert(shuffleFiles == 0))
      assert(ModelStore.entries == (if (mode == "gang") 2 else 0), "models 1 and 2")
      ModelStore.free(fit)
    }
  }

  for (k <- Seq(1, 2, 5); length <- Seq(10, 20011)) {
    test(s"the next leader finds what $k workers of a broken gang hold, models of $length") {
      val fit = nextFit()
      assert(lead("gang", k, length, fit)(_.recover("nothing")).isEmpty)
      intercept[Gang.BrokenException] {
        lead("gang", k, length, fit, breakingAt(4, length)) { workers =>
          workers.distribute(1L, new Array[Byte](8 * length), Some("first"), "distribute")
          workers.allReduce(2, 1L, 2L, Set.empty, Some("second"), "second")
          workers.allReduce(3, 2L, 3L, Set(1L), None, "no model to go on from")
          workers.allReduce(4, 2L, 4L, Set.empty, Some("fourth"), "breaks")
        }
      }
      for (mode <- Modes) {
        val found = lead(mode, k, length, fit)(_.recover("after a broken gang")).get
        assert(found.version == 2L && found.note == "second", mode)
        assert(hash(found.model) == hash(sum(2, k, length)))
        // The next gang does not have the models of an earlier one before it distributes them.
        val e = intercept[IllegalArgumentException](lead(mode, k, length, fit)(_.collect(2L, "")))
        assert(e.getMessage == "the workers hold no model 2, but none")
      }
      val again = lead("gang", k, length, fit) { workers =>
        val found = workers.recover("again").get
        workers.distribute(found.version, found.model, Some(found.note.toString), "distribute again")
        val hashes = workers.allReduce(3, 2L, 3L, Set.empty, Some("third"), "third").scalars
        (hashes.distinct.toSeq, hash(workers.collect(3L, "third")), workers.recover("third").map(_.note))
      }
      assert(again == ((Seq(hash(sum(2, k, length))), hash(sum(3, k, length)), Some("third"))))
      ModelStore.free(fit)
      assert(ModelStore.entries == 0 && lead("gang", k, length, fit)(_.recover("freed")).isEmpty)
    }
  }

  for (driverKnows <- Seq(true, false)) {
    test(s"shuffle: a model that was lost is missed${if (driverKnows) "" else ", where the driver does not know"}") {
      val workers =
        new ShuffleMode(sc.parallelize(0 until 3, 3), nextFit(), VectorFormat(HeaderBytes, 1003))(step(1003))
      workers.distribute(1L, new Array[Byte](8 * 1003), Some("first"), "distribute")
      workers.allReduce(1, 1L, 2L, Set.empty, Some("second"), "allReduce")
      val (_, second) = sc.getPersistentRDDs.maxBy(_._1)
      val block = RDDBlockId(second.id, 1)
      SparkEnv.get.blockManager.removeBlock(block, tellMaster = driverKnows)
      val attempts = Seq[() => Any](
        () => workers.allReduce(2, 2L, 3L, Set.empty, None, "allReduce"),
        () => workers.ask(2, 2L, "ask"),
        () => workers.collect(2L, "collect"))
      for (attempt <- attempts) {
        assert(intercept[ModelLostException](attempt()).getMessage.startsWith("slices 1 of model 2 of fit"))
      }
      if (driverKnows) {
        val found = workers.recover("the one before").get
        assert(found.version == 1L && found.note == "first")
      }
      assert(workers.allReduce(3, 1L, 3L, Set.empty, None, "goes on from the first").scalars.length == 3)
      workers.release()
      eventually(assert(rddBlocks.isEmpty && shuffleFiles == 0))
    }
  }
}
