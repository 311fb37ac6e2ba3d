package dwell.comm

import java.nio.ByteBuffer

import scala.reflect.ClassTag

import dwell.comm.wire.VectorFormat

/**
 * Adds contributions in the order of the partitions, in whatever order they arrive.
 *
 * @param format
 *   of the vector, or of the slice of it that is added
 * @param shared
 *   the shared vector that the workers were given, or the same slice of it
 */
private[comm] final class Gathering[S: ClassTag](partitions: Int, format: VectorFormat, shared: => ByteBuffer) {
  private val codec = format.codec

  /** The sum of the contributions added so far. */
  val sum: Array[Byte] = format.zeros
  private val headers = new Array[Array[Byte]](partitions)
  private val scalars = new Array[S](partitions)
  private val waiting = new Array[ByteBuffer](partitions)
  private var next = 0
  private var addNanos = 0L

  /** The number of contributions added so far. */
  def added: Int = next

  /**
   * Takes a worker's contribution, and adds it once the contributions of all lower partitions have arrived.
   *
   * @param header
   *   returned unchanged in the result
   * @param vector
   *   encoded by [[dwell.comm.wire.SliceCodec]]; empty if the worker has nothing to add
   * @param said
   *   the worker's scalars
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

  /** The sum as numbers, with the other answers; complete once all partitions were added. */
  def result: Gathered[S] = Gathered(format.numbers.values(sum), headers, scalars, addSeconds)

  /** The other answers without the sum. */
  def replies: Replies[S] = Replies(headers, scalars, addSeconds)

  private def addSeconds: Double = addNanos * 1e-9
}
