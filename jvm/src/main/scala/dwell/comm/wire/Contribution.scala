package dwell.comm.wire

import java.nio.ByteBuffer

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
