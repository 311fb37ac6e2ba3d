package dwell.comm

import java.nio.{ByteBuffer, ByteOrder}
import java.util.SplittableRandom
import java.util.concurrent.atomic.AtomicInteger
import java.util.zip.{CRC32, CRC32C}

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.rdd.RDD

import dwell.base.LittleEndian
import dwell.comm.gang.Gang
import dwell.comm.jobs.{DriverMode, ShuffleMode}
import dwell.comm.wire.{Contribution, Numbers, VectorFormat}

/** A short history of models, which every mode must produce with the same bits. */
private[dwell] object ReplicasChecks {
  val HeaderBytes = 16

  /** Longer than tasks wait for the executor that holds their data. */
  private val PatienceMillis = 60000L

  /** Lengths for K workers that make slices empty, unequal, or worth a message each. */
  def lengths(k: Int): Seq[Int] = (Seq(0, 1, k - 1, k, k + 1) ++ slicedLengths(k)).distinct

  /** Lengths that are worth slices. */
  def slicedLengths(k: Int): Seq[Int] = if (k == 2) Seq(100003, 600001) else Seq(100003)

  val Modes: Seq[String] = Seq("driver", "shuffle", "gang")

  type Lead[R] = Replicas[Int, String] => R

  /** Runs `lead` with the workers of a mode. */
  def led[R](mode: String, data: RDD[Int], fit: Long, length: Int, numbers: Numbers = Numbers.Doubles)(
      step: Workers.Step[Int, Int, String])(lead: Lead[R]): R = {
    val format = VectorFormat(HeaderBytes, length, numbers)
    mode match {
      case "driver" => lead(new DriverMode(data, fit, format)(step))
      case "shuffle" => lead(new ShuffleMode(data, fit, format)(step))
      case "gang" =>
        Gang.run(data, s"dwell-replicas-test-${gangs.incrementAndGet()}", fit, format, PatienceMillis)(step)(
          (workers: Replicas[Int, String], _) => lead(workers))(_ => ())
    }
  }

  private val gangs = new AtomicInteger()

  /** Everything that a leader sees, in a comparable form. */
  final case class Seen(
      models: Seq[String],
      headers: Seq[Seq[Option[Seq[Byte]]]],
      hashes: Seq[Seq[String]],
      refusals: Seq[String])

  /**
   * Numbers of very different size, whose sum depends on the order. A worker reports which model it got, and adds
   * nothing in message `10 + worker`. Some append bytes to their vectors, which must stay out of the sum.
   */
  def step(length: Int): Workers.Step[Int, Int, String] = (k, message, shared) => {
    val update =
      if (message == 10 + k) header(k, message)
      else Array.concat(header(k, message), bytes(vector(k, message, length)), Array.fill(24 * (k % 2))(7.toByte))
    Contribution(update, hash(shared))
  }

  /** For a worker's vector. Not scala.util.Random, which is slow with atomics: cases make millions of numbers. */
  private def randomOf(k: Int, message: Int): SplittableRandom = new SplittableRandom(1000L * message + k)

  /** The factors by which workers multiply a shared vector in [[mixed]]. */
  private val Factors = Array(1e-5, 0.7, 0.3)

  /**
   * Multiplies the shared vector by factors, except for a share of its entries. Without `known` the worker does not
   * report the factors, which does not change a bit.
   */
  def decaying(length: Int, touched: Double, known: Boolean): Workers.Step[Int, Int, String] = (k, message, shared) => {
    val update = Array.concat(header(k, message), bytes(decayed(k, message, LittleEndian.doubles(shared), touched)))
    Contribution(update, hash(shared), if (known) Factors else Array.emptyDoubleArray)
  }

  private def decayed(k: Int, message: Int, shared: Array[Double], touched: Double): Array[Double] = {
    val random = randomOf(k, message)
    shared.map { x =>
      if (random.nextDouble() < touched) random.nextDouble() - 0.5 else x * Factors(0) * Factors(1) * Factors(2)
    }
  }

  /** Sends zeros, except for some entries. */
  def sparse(length: Int): Workers.Step[Int, Int, String] = (k, message, shared) =>
    Contribution(Array.concat(header(k, message), bytes(fewEntries(k, message, length))), hash(shared))

  private def fewEntries(k: Int, message: Int, length: Int): Array[Double] = {
    val random = randomOf(k, message)
    Array.fill(length)(if (random.nextInt(50) == 0) random.nextDouble() - 0.5 else 0.0)
  }

  /** Contributions that travel in different forms, by message and worker: dense, sparse, empty, almost as predicted
   * or hardly as predicted. */
  def mixed(length: Int): Workers.Step[Int, Int, String] = (k, message, shared) =>
    (k + message) % 5 match {
      case 0 => step(length)(k, message, shared)
      case 1 => sparse(length)(k, message, shared)
      case 2 => Contribution(header(k, message), hash(shared), Factors)
      case 3 => decaying(length, 0.05, known = true)(k, message, shared)
      case 4 => decaying(length, 0.95, known = true)(k, message, shared)
    }

  /** A worker on floats: multiplies them by factors, except for a share of them. */
  def decayingFloats(touched: Double): Workers.Step[Int, Int, String] = (k, message, shared) =>
    Contribution(
      Array.concat(header(k, message), floatBytes(decayedFloats(k, message, floats(shared), touched))),
      hash(shared),
      Factors.map(_.toFloat.toDouble))

  private def decayedFloats(k: Int, message: Int, shared: Array[Float], touched: Double): Array[Float] = {
    val random = randomOf(k, message)
    shared.map { x =>
      if (random.nextDouble() < touched) random.nextDouble().toFloat
      else x * Factors(0).toFloat * Factors(1).toFloat * Factors(2).toFloat
    }
  }

  /** The hashes of the models after rounds of [[decayingFloats]], and of a sum that goes back to the leader. */
  def floatStory(first: Array[Float], rounds: Int): Lead[Seq[String]] = workers => {
    workers.distribute(0L, floatBytes(first), None, "distribute")
    val models = (1 to rounds).map { i =>
      workers.allReduce(i, i - 1L, i.toLong, Set.empty, None, "allReduce")
      hash(workers.collect(i.toLong, "collect"))
    }
    val exchanged = workers.exchange(rounds + 1, floatBytes(first), "exchange")
    workers.release()
    models :+ hash(floatBytes(exchanged.sum.map(_.toFloat)))
  }

  /** The expected hashes, by plain sums of floats. */
  def expectedFloats(workers: Int, first: Array[Float], rounds: Int, touched: Double): Seq[String] = {
    def after(message: Int, shared: Array[Float]): Array[Float] = {
      val sum = new Array[Float](shared.length)
      for (k <- 0 until workers) {
        val part = decayedFloats(k, message, shared, touched)
        part.indices.foreach(j => sum(j) += part(j))
      }
      sum
    }
    val models = (1 to rounds).scanLeft(first)((model, message) => after(message, model))
    (models.tail :+ after(rounds + 1, first)).map(model => hash(floatBytes(model)))
  }

  private def floats(bytes: Array[Byte]): Array[Float] = Numbers.Floats.values(bytes).map(_.toFloat)

  private def floatBytes(numbers: Array[Float]): Array[Byte] = {
    val bytes = ByteBuffer.allocate(4 * numbers.length).order(ByteOrder.LITTLE_ENDIAN)
    bytes.asFloatBuffer().put(numbers)
    bytes.array
  }

  /** Bytes that the members of a gang have sent each other: `orders` in a distribute, the others in an allReduce. */
  final case class Sent(orders: Long, contributions: Long, models: Long)

  /** Counts the bytes of exchanges: a gang keeps the messages of one exchange until the next is over. */
  def inGang(model: Array[Byte]): Lead[Sent] = workers => {
    def parcels(kind: String): Long = {
      val blocks = SparkEnv.get.blockManager
      val sizes = blocks.getMatchingBlockIds(_.name.contains(kind)).flatMap(blocks.getStatus(_))
      sizes.map(size => size.memSize + size.diskSize).sum
    }
    workers.distribute(0L, model, None, "distribute")
    val orders = parcels("_order")
    workers.allReduce(1, 0L, 1L, Set.empty, None, "allReduce")
    val sent = Sent(orders, parcels("_part_"), parcels("_slice_"))
    workers.release()
    sent
  }

  /** The plain sum of the results of the workers of [[mixed]] on a model. */
  private def mixedSum(message: Int, workers: Int, shared: Array[Double]): Array[Double] = {
    val sum = new Array[Double](shared.length)
    for (k <- 0 until workers) {
      val part = (k + message) % 5 match {
        case 0 => vector(k, message, shared.length)
        case 1 => fewEntries(k, message, shared.length)
        case 2 => new Array[Double](shared.length)
        case 3 => decayed(k, message, shared, 0.05)
        case 4 => decayed(k, message, shared, 0.95)
      }
      part.indices.foreach(j => sum(j) += part(j))
    }
    sum
  }

  /** Hashes of the models after rounds of [[mixed]], of those that the workers see, and of a sum that goes back to
   * the leader. */
  def mixedStory(length: Int): Lead[Seq[Seq[String]]] = workers => {
    workers.begin(0L, FirstModel, "begin")
    val rounds = (1 to 6).map { i =>
      val seen = workers.allReduce(i, i - 1L, i.toLong, Set.empty, None, "allReduce").scalars
      hash(workers.collect(i.toLong, "collect")) +: seen.toSeq
    }
    val exchanged = workers.exchange(7, firstModel(length), "exchange")
    rounds :+ (hash(exchanged.sum) +: exchanged.scalars.toSeq)
  }

  /** The expected hashes, by plain sums. */
  def expectedMixed(workers: Int, length: Int): Seq[Seq[String]] = {
    val first = LittleEndian.doubles(firstModel(length))
    val models = (1 to 6).scanLeft(first)((model, message) => mixedSum(message, workers, model))
    val steps = models.zip(models.tail) :+ (first -> mixedSum(7, workers, first))
    steps.map { case (before, after) => hash(after) +: Seq.fill(workers)(hash(before)) }
  }

  def failingAt(failing: Int, length: Int): Workers.Step[Int, Int, String] = (k, message, shared) =>
    if (k == failing && message == 2) throw new IllegalArgumentException(s"worker $k does not like $message")
    else step(length)(k, message, shared)

  /** The last worker throws an exception at this message. */
  def breakingAt(message: Int, length: Int): Workers.Step[Int, Int, String] = (k, m, shared) =>
    if (m == message && k == TaskContext.get().numPartitions() - 1) throw new RuntimeException("out of order")
    else step(length)(k, m, shared)

  private def vector(k: Int, message: Int, length: Int): Array[Double] = {
    val random = randomOf(k, message)
    Array.fill(length)((random.nextDouble() - 0.5) * PowersOfTen(random.nextInt(30)))
  }

  private val PowersOfTen = Array.tabulate(30)(math.pow(10.0, _))

  private def header(k: Int, message: Int): Array[Byte] =
    ByteBuffer.allocate(HeaderBytes).order(ByteOrder.LITTLE_ENDIAN).putLong(k.toLong).putLong(message.toLong).array

  /** Tells models apart, to the bit. */
  def bytes(model: Array[Double]): Array[Byte] = LittleEndian.bytes(model)

  def hash(model: Array[Double]): String = hash(bytes(model))

  def hash(model: Array[Byte]): String =
    Seq(new CRC32, new CRC32C).map { sum =>
      sum.update(model, 0, model.length)
      f"${sum.getValue}%08x"
    }.mkString

  /** A model that every worker generates for itself. */
  private object FirstModel extends GeneratedModel {
    override def entries(from: Int, until: Int): Array[Byte] = bytes(
      Array.tabulate(until - from)(j => 1.0 / (1 + from + j)))
  }

  def firstModel(length: Int): Array[Byte] = FirstModel.entries(0, length)

  /** The leader gives models 1 and 7; the workers make 2, 3, 5 and 8, and keep 3. */
  def story(length: Int): Lead[Seen] = workers => {
    def refused(body: => Any): String =
      try {
        body
        "not refused"
      } catch { case e: IllegalArgumentException => e.getMessage.stripPrefix("requirement failed: ") }
    workers.distribute(1L, firstModel(length), None, "distribute")
    val first = workers.allReduce(1, 1L, 2L, Set.empty, None, "first")
    val second = workers.allReduce(10, 2L, 3L, Set.empty, Some("third"), "second")
    val droppedOne = refused(workers.ask(4, 1L, "of a model that was dropped"))
    val third = workers.allReduce(3, 3L, 5L, Set(3L), None, "third")
    val asked = workers.ask(11, 3L, "ask")
    val models = Seq(3L, 5L).map(workers.collect(_, "collect"))
    val refusals = Seq(
      droppedOne,
      refused(workers.collect(2L, "of a model that was dropped")),
      refused(workers.allReduce(9, 4L, 6L, Set.empty, None, "of a model that never was")),
      refused(workers.allReduce(9, 3L, 5L, Set.empty, None, "of a version that has been")),
      refused(workers.distribute(6L, new Array[Byte](8 * length + 8), None, "of a wrong length")))
    workers.distribute(7L, firstModel(length).reverse, None, "distribute again")
    val last = workers.allReduce(8, 7L, 8L, Set(3L), Some("last"), "last")
    val replies = Seq(first, second, third, asked, last, workers.ask(0, 8L, "ask again"))
    Seen(
      (models :+ workers.collect(8L, "collect again")).map(hash(_)),
      replies.map(_.headers.toSeq.map(Option(_).map(_.toSeq))),
      replies.map(_.scalars.toSeq),
      refusals)
  }

  /** The sum of the workers' vectors. */
  def sum(message: Int, workers: Int, length: Int): Array[Double] = {
    val sum = new Array[Double](length)
    for (k <- 0 until workers if message != 10 + k) {
      val part = vector(k, message, length)
      part.indices.foreach(j => sum(j) += part(j))
    }
    sum
  }

  /** The expected story, by plain sums. */
  def expected(workers: Int, length: Int): Seen = {
    def sum(message: Int): Array[Double] = this.sum(message, workers, length)
    val models = Map(1 -> firstModel(length), 7 -> firstModel(length).reverse) ++
      Seq(2 -> 1, 3 -> 10, 5 -> 3, 8 -> 8).map { case (version, message) => version -> bytes(sum(message)) }
    val (messages, versions) = (Seq(1, 10, 3, 11, 8, 0), Seq(1, 2, 3, 3, 7, 8))
    Seen(
      Seq(10, 3, 8).map(message => hash(sum(message))),
      messages.map(message => (0 until workers).map(k => Some(header(k, message).toSeq))),
      versions.map(version => Seq.fill(workers)(hash(models(version)))),
      Seq(
        "the workers hold no model 1, but 2, 3",
        "the workers hold no model 2, but 3, 5",
        "the workers hold no model 4, but 3, 5",
        "model 5 is not higher than 5, the version of a model that was made before it",
        s"a model has ${8 * length + 8} bytes where ${8 * length} were expected"))
  }
}
