package dwell.comm

import java.nio.ByteBuffer

import scala.reflect.ClassTag

import dwell.comm.wire.VectorFormat

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
   *   as [[dwell.comm.wire.SliceCodec]] has it; empty where the worker has nothing to add
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
