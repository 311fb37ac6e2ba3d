package dwell.comm

import java.nio.ByteBuffer

import scala.reflect.ClassTag

/**
 * What one worker returns from one exchange.
 *
 * @param update
 *   a header of bytes, then the vector, little endian, and what else there may be, which nobody else gets; the header alone
 *   where the worker has no vector to add, and empty where it has nothing to say at all
 * @param scalars
 *   whatever else the algorithm wants to know of this worker
 * @param factors
 *   what the worker has done to entries of the shared vector that it did nothing else to: these are multiplied by each of the
 *   factors in turn, rounded every time. They need not travel then. (Nor need the others be different: it is looked at.)
 *   Without factors it is entries of +0.0 that need not travel.
 */
final case class Contribution[S](update: Array[Byte], scalars: S, factors: Array[Double] = Array.emptyDoubleArray)

/**
 * Sum of the workers' vectors, and their scalars by partition.
 *
 * @param addSeconds
 *   time spent on adding, which no worker's time covers
 */
final case class Gathered[S](sum: Array[Double], headers: Array[Array[Byte]], scalars: Array[S], addSeconds: Double)

/**
 * The workers of a fit, one a partition, and the way in which messages to them and their vectors travel. All ways give the
 * same bits: vectors are added in the order of the partitions.
 *
 * @tparam M
 *   message, the same for all workers
 * @tparam S
 *   what a worker answers beside its vector
 */
trait Workers[M, S] {

  /**
   * Asks every worker once.
   *
   * @param shared
   *   bytes that go with the message
   * @param description
   *   of this exchange, for whoever watches
   */
  def exchange(message: M, shared: Array[Byte], description: String): Gathered[S]
}

object Workers {

  /** What a worker does with a message and the bytes that go with it, which it must not change: others may read them as well. */
  type Step[D, M, S] = (D, M, Array[Byte]) => Contribution[S]
}

/** The parts of a contribution. */
object Contribution {

  /** The bytes before the vector; null where the worker has nothing to say. */
  def header(c: Contribution[_], headerBytes: Int): Array[Byte] =
    if (c.update.isEmpty) null else java.util.Arrays.copyOf(c.update, headerBytes)

  /**
   * The vector as [[SliceCodec]] has it, in the place of the vector, and nothing behind it.
   *
   * @param shared
   *   the shared vector that the worker was given
   */
  private[comm] def encoded[S](c: Contribution[S], format: VectorFormat, shared: Array[Byte]): Contribution[S] = {
    val vector = entries(c, format.headerBytes, 0, format.length)
    val bytes = format.codec.encode(vector, c.factors, ByteBuffer.wrap(shared))
    val size = format.headerBytes + bytes.remaining()
    if ((bytes eq vector) && c.update.length <= size) c
    else {
      val update = java.util.Arrays.copyOf(c.update, size)
      bytes.duplicate().get(update, format.headerBytes, bytes.remaining())
      Contribution(update, c.scalars)
    }
  }

  /** The encoded vector; empty where the worker has nothing to add. */
  private[comm] def encodedVector(c: Contribution[_], headerBytes: Int): ByteBuffer =
    if (c.update.length <= headerBytes) ByteBuffer.allocate(0)
    else ByteBuffer.wrap(c.update, headerBytes, c.update.length - headerBytes)

  /** The same with nothing to add. */
  def withoutVector[S](c: Contribution[S], headerBytes: Int): Contribution[S] =
    if (c.update.length <= headerBytes) c else c.copy(update = header(c, headerBytes))

  /** Entries `from` until `to` of the vector; empty where the worker has nothing to add. */
  def entries(c: Contribution[_], headerBytes: Int, from: Int, to: Int): ByteBuffer =
    if (c.update.length <= headerBytes) ByteBuffer.allocate(0)
    else ByteBuffer.wrap(c.update, headerBytes + 8 * from, 8 * (to - from))
}

/**
 * Adds contributions in the order of the partitions, whatever the order in which they arrive.
 *
 * @param format
 *   of the vector, or of the slice of it that is to be added
 * @param shared
 *   the shared vector that the workers were given, or the slice of it that is to be added
 */
private[comm] final class Gathering[S: ClassTag](partitions: Int, format: VectorFormat, shared: => ByteBuffer) {
  private val codec = format.codec

  /** The sum of what has been added. */
  val sum: Array[Byte] = format.zeros
  private val headers = new Array[Array[Byte]](partitions)
  private val scalars = new Array[S](partitions)
  private val waiting = new Array[ByteBuffer](partitions)
  private var next = 0
  private var addNanos = 0L

  /** Contributions that have been added. */
  def added: Int = next

  /**
   * @param header
   *   handed back as it is
   * @param vector
   *   as [[SliceCodec]] has it; empty where the worker has nothing to add
   */
  def add(partition: Int, header: Array[Byte], vector: ByteBuffer, said: S): Unit = {
    headers(partition) = header
    scalars(partition) = said
    waiting(partition) = vector
    val start = System.nanoTime()
    while (next < partitions && waiting(next) != null) {
      if (waiting(next).hasRemaining) codec.add(waiting(next), ByteBuffer.wrap(sum), shared)
      waiting(next) = null
      next += 1
    }
    addNanos += System.nanoTime() - start
  }

  def result: Gathered[S] = Gathered(format.numbers.values(sum), headers, scalars, addSeconds)

  /** What was said beside the vectors. */
  def replies: Replies[S] = Replies(headers, scalars, addSeconds)

  private def addSeconds: Double = addNanos * 1e-9
}
