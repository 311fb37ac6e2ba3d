package dwell.comm

import java.nio.{ByteBuffer, ByteOrder}
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{ConcurrentLinkedQueue, Executors}

import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.{BlockExchange, Rendezvous, SparkException, TaskContext, TaskKilledException}
import org.scalatest.BeforeAndAfterAll

import dwell.{CheckLong, LimitedSuite, SparkSuite, Waiting}
import dwell.base.{LittleEndian, SliceBounds}
import dwell.comm.gang.{Gang, Mailbox}
import dwell.comm.jobs.{DriverMode, ShuffleMode}
import dwell.comm.wire.{Contribution, Packet, VectorFormat}
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression
import dwell.report.FitReport

/** Barrier stages with up to eight tasks, in a session of the suite's own with slots for them. */
class GangSuite extends LimitedSuite with BeforeAndAfterAll {
  import GangSuite._

  private implicit lazy val threads: ExecutionContext =
    ExecutionContext.fromExecutor(Executors.newCachedThreadPool { task =>
      val thread = new Thread(task)
      thread.setDaemon(true)
      thread
    })
  private lazy val spark: SparkSession = SparkSuite.fresh(master = "local[8]")
  private def sc = spark.sparkContext

  override def afterAll(): Unit = spark.stop()

  private val names = new AtomicInteger()
  private def nextName(): String = s"dwell-gang-test-${names.incrementAndGet()}"

  private def gang[R](k: Int, length: Int, name: String = nextName(), patienceMillis: Long = 10000L)(
      step: Workers.Step[Int, Int, String])(lead: (Workers[Int, String], Any => Unit) => R): R =
    Gang.run(sc.parallelize(0 until k, k), name, fit = 1L, VectorFormat(HeaderBytes, length), patienceMillis)(step)(
      lead)(_ => ())

  private def peered[R](k: Int, length: Int, name: String)(lead: Workers.Together[Int, Seq[Seq[Double]]] => R): R =
    Gang.run[Int, Int, Seq[Seq[Double]], R](
      sc.parallelize(0 until k, k),
      name,
      fit = 1L,
      VectorFormat(HeaderBytes, length),
      10000L)(new Peered(length))((workers, _) => lead(workers.together.get))(_ => ())

  test("a parcel that claims more than it holds") {
    assert(!sc.isStopped)
    val parcel = Packet("content", Array[Byte](1, 2)).write()
    assert(Packet.read(parcel.duplicate()).toArray.toSeq == Seq[Byte](1, 2))
    for (claim <- Seq(Int.MaxValue, parcel.capacity, -1))
      intercept[IllegalArgumentException](Packet.read(parcel.duplicate().putInt(0, claim)))
  }

  test("a task whose number is none of the gang's: all are told") {
    val name = nextName()
    val meeting = Rendezvous.open(sc, name, members = 2)(_ => ())
    try
      for (task <- Seq(0, 2).map(rank => Future(new Rendezvous.Visit(name).join(rank)(()))))
        assert(intercept[IllegalArgumentException](Await.result(task, 20.seconds)).getMessage.contains("number 2"))
    finally meeting.close()
  }

  private def leftBehind(name: String): Int = BlockExchange.local.count(Mailbox.prefix(name))

  private val exchanges =
    for (k <- Seq(1, 2, 3, 4, 8); length <- Seq(1, 1003, 20011); emptyAt <- Seq(-1, 0, k - 1).distinct)
      yield (k, length, emptyAt)

  for ((k, length, emptyAt) <- CheckLong.pairsOf(exchanges)) {
    test(s"$k tasks, vectors of $length, nothing from task $emptyAt: the same bits as by the driver") {
      val shared = new Array[Byte](8 * length)
      Random.nextBytes(shared)
      val driver =
        new DriverMode(sc.parallelize(0 until k, k), fit = 1L, VectorFormat(HeaderBytes, length))(echo(length, emptyAt))
      val name = nextName()
      val together = gang(k, length, name)(echo(length, emptyAt)) { (workers, _) =>
        (1 to 3).map(message => bits(workers.exchange(message, if (message == 2) shared else Array.emptyByteArray, "")))
      }
      val shuffle = new ShuffleMode(sc.parallelize(0 until k, k), fit = 1L, VectorFormat(HeaderBytes, length))(
        echo(length, emptyAt))
      val Seq(expected, shuffled) = Seq(driver, shuffle).map { workers =>
        (1 to 3).map { message =>
          bits(workers.exchange(message, if (message == 2) shared else Array.emptyByteArray, "by jobs"))
        }
      }
      assert(together == expected && shuffled == expected)
      assert(together(1)._3.zipWithIndex.forall { case (said, at) => said == s"$at heard ${shared.length}" })
      assert(leftBehind(name) == 0)
    }
  }

  for (k <- Seq(1, 2, 3, 8); length <- Seq(5, 20011)) {
    test(s"$k tasks keep slices of vectors of $length, put them together and add them up, with notes") {
      val name = nextName()
      val vectors = Seq.fill(2)(Array.fill(length)(math.floor(100.0 * Random.nextDouble())))
      val bounds = unequal(length, k)
      val replies = peered(k, length, name) { workers =>
        (1 to 2).map(message => workers(message, bounds, vectors.map(LittleEndian.bytes)))
      }
      replies.zip(1 to 2).foreach { case (replies, message) =>
        val said = replies.scalars.toSeq
        assert(said.map(_.head) == Seq.fill(k)(vectors(1).toSeq), "the whole of the second vector")
        assert(said.flatMap(_(1)) == vectors(1).toSeq.map(_ * message * (k * (k + 1) / 2)), "each its slice of the sum")
        val notes = (0 until k).map(_.toDouble)
        assert(said.forall(_.drop(2) == Seq(notes, notes.map(_ + vectors.head.sum))))
        assert(replies.headers.toSeq.map(h => LittleEndian.doubles(h).head) == notes)
      }
      assert(leftBehind(name) == 0)
    }
  }

  test("tasks that fail among their peers: what they say to the user is thrown on the driver") {
    val name = nextName()
    val e = intercept[IllegalArgumentException] {
      peered(4, 20011, name)(workers =>
        workers(Peered.Refused, unequal(20011, 4), Seq.fill(2)(new Array[Byte](8 * 20011))))
    }
    assert(e.getMessage == "task 2 does not like it")
    eventually(assert(leftBehind(name) == 0))
  }

  test("a message that is lost breaks the gang, whose tasks would wait for one another for ever") {
    val name = nextName()
    val lost = Mailbox.prefix(name) + "to_0_0_answer_2"
    val e = intercept[Gang.BrokenException] {
      gang(3, 10, name, patienceMillis = 1000L) { (element, message, shared) =>
        // The tasks of this session share one block manager. The leader asks for the answer of task 1 first, and task 1 takes
        // the other answer away meanwhile.
        if (element == 1) {
          Waiting.eventually(assert(BlockExchange.local.count(lost) == 1))
          BlockExchange.local.removeAll(lost)
        }
        echo(10, -1)(element, message, shared)
      }((workers, _) => workers.exchange(1, Array.emptyByteArray, ""))
    }
    assert(e.getMessage.contains("a message between them was lost"))
    eventually(assert(leftBehind(name) == 0))
  }

  for (k <- Seq(2, 5); failing <- Seq(0, k - 1); length <- Seq(10, 20011)) {
    test(s"what task $failing of $k says to the user is thrown on the driver, vectors of $length") {
      val name = nextName()
      val e = intercept[IllegalArgumentException] {
        gang(k, length, name)(failingAt(failing, length)) { (workers, _) =>
          (1 to 3).foreach(workers.exchange(_, Array.emptyByteArray, ""))
        }
      }
      assert(e.getMessage == s"task $failing does not like 2")
      eventually(assert(leftBehind(name) == 0))
    }
  }

  test("all tasks fail at once: one of the messages is thrown") {
    val e = intercept[IllegalArgumentException] {
      gang(5, 20011) { (k: Int, _: Int, _: Array[Byte]) => throw new IllegalArgumentException(s"task $k") }(
        (workers, _) => workers.exchange(1, Array.emptyByteArray, ""))
    }
    assert(e.getMessage.startsWith("task "))
  }

  for (k <- Seq(1, 4); failing <- Seq(0, k - 1).distinct) test(s"task $failing of $k breaks down") {
    val name = nextName()
    val e = intercept[Gang.BrokenException] {
      gang(k, 20011, name) { (at: Int, message: Int, shared: Array[Byte]) =>
        if (at == failing) throw new RuntimeException("out of order")
        echo(20011, -1)(at, message, shared)
      }((workers, _) => workers.exchange(1, Array.emptyByteArray, ""))
    }
    assert(e.getMessage.contains("out of order") && leftBehind(name) == 0)
  }

  test("what the leader tells arrives in order, and what it throws is thrown") {
    val told = new ConcurrentLinkedQueue[Any]()
    val e = intercept[IllegalStateException] {
      Gang.run(sc.parallelize(0 until 3, 3), nextName(), fit = 1L, VectorFormat(HeaderBytes, 5), 10000L)(echo(5, -1)) {
        (_: Workers[Int, String], tell) =>
          (1 to 100).foreach(tell)
          throw new IllegalStateException("the leader gives up")
      }(told.add(_))
    }
    assert(e.getMessage == "the leader gives up" && told.asScala.toSeq == (1 to 100))
  }

  test("too few slots are noticed before anything runs") {
    val nine = Gang.impossible(sc, 9)
    assert(nine.exists(_.contains("9 tasks have to run at once, and the cluster has 8 slots")))
    assert(Gang.impossible(sc, 8).isEmpty)
  }

  test("slots that others hold are waited for, but not for ever") {
    val holder = sc.parallelize(0 until 4, 4).map(_ => sleepUntilKilled()).countAsync()
    eventually(assert(asleep.get == 4))
    val e = intercept[Gang.StalledException] {
      gang(8, 5, patienceMillis = 500L)(echo(5, -1))((workers, _) => workers.exchange(1, Array.emptyByteArray, ""))
    }
    assert(e.getMessage.contains("0.5 s") && !holder.isCompleted)
    assert(gang(4, 5)(echo(5, -1))((_, _) => "done") == "done", "four slots are free")
    holder.cancel()
    eventually(assert(asleep.get == 0))
  }

  test("a cancelled job group ends the gang and all of its tasks, whatever they wait for") {
    for (sleeper <- Seq(0, 3)) {
      val name = nextName()
      val fit = Future {
        sc.setJobGroup(s"barrier $name", "to be cancelled", interruptOnCancel = false)
        gang(4, 20011, name)(sleeping(sleeper))((workers, _) => workers.exchange(1, Array.emptyByteArray, ""))
      }
      eventually(assert(asleep.get == 1))
      sc.cancelJobGroup(s"barrier $name")
      val e = intercept[SparkException](Await.result(fit, Waiting.LimitSeconds.seconds))
      assert(e.getMessage.contains("cancelled"), e)
      assert(asleep.get == 0 && leftBehind(name) == 0, s"task $sleeper was asleep")
      // The others wait for messages that nobody sends any more.
      eventually(assert(sc.statusTracker.getExecutorInfos.forall(_.numRunningTasks() == 0)))
    }
  }

  private lazy val sparse: DataFrame = {
    val random = new Random(17)
    val rows = Seq.fill(300) {
      val ids = Seq.fill(30)((12000 * math.pow(random.nextDouble(), 3.0)).toInt).distinct.sorted
      val x = Vectors.sparse(12000, ids.map(i => (i, random.nextGaussian())))
      val y = ids.count(_ % 3 == 0) - 10 + random.nextGaussian()
      (if (y > 0.0) 1.0 else 0.0, y, x: Vector)
    }
    spark.createDataFrame(rows).toDF("label", "target", "features").repartition(4).cache()
  }

  private lazy val dense: DataFrame = {
    val random = new Random(18)
    val rows = Seq.fill(200) {
      val x = Array.fill(15)(random.nextGaussian())
      val y = x.take(5).sum + random.nextGaussian()
      (if (y > 0.0) 1.0 else 0.0, y, Vectors.dense(x))
    }
    spark.createDataFrame(rows).toDF("label", "target", "features").repartition(4).cache()
  }

  private def fits(data: DataFrame, k: Int, aggregation: String): Seq[(Vector, Double, FitReport)] = {
    def logistic(orientation: String) = new LogisticRegression().setOrientation(orientation).setRegParam(0.02)
    def squared(orientation: String, elasticNet: Double) = new LinearRegression()
      .setOrientation(orientation)
      .setRegParam(0.05)
      .setElasticNetParam(elasticNet)
      .setLabelCol("target")
      .setSolver("l-bfgs")
    val regressions = Seq(squared("primal", 0.0), squared("primal", 0.5), squared("dual", 0.5)).map { e =>
      val model = e.setNumWorkers(k).setLocalWork(0.7).setMaxIter(8).setTol(0.0).setAggregation(aggregation).fit(data)
      (model.coefficients, model.intercept, FitReport.of(model))
    }
    val classifications = Seq(logistic("primal"), logistic("dual")).map { e =>
      val model = e.setNumWorkers(k).setLocalWork(0.7).setMaxIter(8).setTol(0.0).setAggregation(aggregation).fit(data)
      (model.coefficients, model.intercept, FitReport.of(model))
    }
    val svc = new LinearSVC().setRegParam(0.02).setNumWorkers(k).setLocalWork(0.7).setMaxIter(8).setTol(0.0)
    val hinge = svc.setAggregation(aggregation).fit(data)
    regressions ++ classifications :+ ((hinge.coefficients, hinge.intercept, FitReport.of(hinge)))
  }

  // Two workers; checkLong has other numbers of workers, and both kinds of data.
  sameInAllModes(2, "sparse")
  CheckLong.only(7) {
    val others =
      Seq((1, "sparse"), (1, "dense"), (2, "dense"), (3, "sparse"), (3, "dense"), (8, "sparse"), (8, "dense"))
    for ((k, name) <- others) sameInAllModes(k, name)
  }

  private def sameInAllModes(k: Int, name: String): Unit =
    test(s"fits in a gang, through shuffles and by the driver: the same bits, all losses, K = $k, $name") {
      val data = if (name == "sparse") sparse else dense
      val byDriver = fits(data, k, "driver")
      for (mode <- Seq("gang", "shuffle"); (one, other) <- fits(data, k, mode).zip(byDriver)) {
        assert(one._3.aggregation == mode && other._3.aggregation == "driver" && one._3.solver == "native")
        assert(one._1 == other._1 && one._2 == other._2, one._3.toText)
        assert(one._3.rounds.map(r => (r.objective, r.gap)) == other._3.rounds.map(r => (r.objective, r.gap)))
        assert(one._3.numPartitions == k && one._3.restarts == 0)
      }
    }
}

private object GangSuite {
  val HeaderBytes = 16

  private type Bits = (Seq[Long], Seq[Option[Seq[Byte]]], Seq[String])

  def bits(g: Gathered[String]): Bits = (
    g.sum.toSeq.map(java.lang.Double.doubleToRawLongBits),
    g.headers.toSeq.map(Option(_).map(_.toSeq)),
    g.scalars.toSeq)

  /** Sends numbers of very different size, whose sum depends on the order. */
  def echo(length: Int, emptyAt: Int): Workers.Step[Int, Int, String] = (k, message, shared) => {
    val random = new Random(1000L * message + k)
    val update = ByteBuffer.allocate(HeaderBytes + 8 * length).order(ByteOrder.LITTLE_ENDIAN)
    update.putLong(k.toLong).putLong(message.toLong)
    (0 until length).foreach(_ => update.putDouble(random.nextGaussian() * math.pow(10.0, random.nextInt(30).toDouble)))
    Contribution(if (k == emptyAt) Array.emptyByteArray else update.array, s"$k heard ${shared.length}")
  }

  /** Slices of which the first is empty if there are several, and the others are not equally long. */
  private def unequal(length: Int, k: Int): SliceBounds = new SliceBounds {
    override def count: Int = k
    override def start(slice: Int): Int =
      if (slice == k) length else if (slice < 2) 0 else math.min(length, slice * slice)
  }

  /** Tasks that put the second vector together, and add up as many of it as their number and the message say. */
  private final class Peered(length: Int) extends Workers.SharingStep[Int, Int, Seq[Seq[Double]]] {
    override def apply(k: Int, message: Int, shared: Array[Byte]): Contribution[Seq[Seq[Double]]] =
      throw new IllegalStateException("the leader asks for no vector")

    override def among(k: Int, peers: Peers): Workers.Member[Int, Seq[Seq[Double]]] = (message, slices) => {
      if (message == Peered.Refused && k == 2) throw new IllegalArgumentException(s"task $k does not like it")
      val bounds = unequal(length, peers.size)
      val numbers = LittleEndian.buffer(slices).asDoubleBuffer()
      val Seq(first, second) = Seq.fill(2) {
        val slice = new Array[Double](bounds.size(peers.rank))
        numbers.get(slice)
        slice
      }
      val (whole, sums) = peers.gather(bounds, LittleEndian.bytes(second), Array(k.toDouble, first.sum))
      val own = Array(k.toDouble, 0.0) ++ LittleEndian.doubles(whole).map(_ * message * (k + 1))
      val total = sums.map(_(1)).sum
      val (sum, notes) = peers.reduce(bounds, Contribution(LittleEndian.bytes(own), ()), Array(k + total))
      Contribution(
        LittleEndian.bytes(own.take(2)),
        Seq(LittleEndian.doubles(whole).toSeq, LittleEndian.doubles(sum).toSeq, sums.map(_.head), notes.map(_.head)))
    }
  }

  private object Peered {
    val Refused = -1
  }

  def failingAt(failing: Int, length: Int): Workers.Step[Int, Int, String] = (k, message, shared) =>
    if (k == failing && message == 2) throw new IllegalArgumentException(s"task $k does not like $message")
    else echo(length, -1)(k, message, shared)

  def sleeping(sleeper: Int): Workers.Step[Int, Int, String] = (k, message, shared) => {
    if (k == sleeper) sleepUntilKilled()
    echo(20011, -1)(k, message, shared)
  }

  /** Number of tasks that sleep now: all are in this process. */
  val asleep = new AtomicInteger()

  def sleepUntilKilled(): Unit = {
    asleep.incrementAndGet()
    try while (!TaskContext.get().isInterrupted()) Thread.sleep(10)
    finally asleep.decrementAndGet()
    throw new TaskKilledException("noticed")
  }
}
