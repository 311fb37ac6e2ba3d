package dwell.comm.wire

import java.nio.ByteBuffer

/**
 * One worker's answer in one exchange.
 *
 * @param update
 *   a header, then the vector, little endian. Bytes behind the vector stay with the worker. The header alone if the
 *   worker has no vector to add; empty if it has nothing to report at all
 * @param scalars
 *   the worker's other results, as the algorithm defines them
 * @param factors
 *   f1, f2, ...: an untouched entry j of the vector equals shared(j) * f1 * f2 ..., rounded after each product, and is
 *   not sent. Without factors, an untouched entry is +0.0. (The codec compares all entries: it needs no list of the
 *   untouched ones, and a touched entry that happens to be equal is not sent either.)
 */
final case class Contribution[S](update: Array[Byte], scalars: S, factors: Array[Double] = Array.emptyDoubleArray)

/** Takes contributions apart. */
object Contribution {

  /** The bytes before the vector; null if the worker has nothing to report. */
  def header(c: Contribution[_], headerBytes: Int): Array[Byte] =
    if (c.update.isEmpty) null else java.util.Arrays.copyOf(c.update, headerBytes)

  /**
   * The contribution with its vector encoded by [[SliceCodec]], and no bytes behind it.
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

  /** The vector of an encoded contribution; empty if the worker has nothing to add. */
  private[comm] def encodedVector(c: Contribution[_], headerBytes: Int): ByteBuffer =
    if (c.update.length <= headerBytes) ByteBuffer.allocate(0)
    else ByteBuffer.wrap(c.update, headerBytes, c.update.length - headerBytes)

  /** The contribution without its vector. */
  def withoutVector[S](c: Contribution[S], headerBytes: Int): Contribution[S] =
    if (c.update.length <= headerBytes) c else c.copy(update = header(c, headerBytes))

  /** Entries `from` until `to` of the vector; empty if the worker has nothing to add. */
  def entries(c: Contribution[_], headerBytes: Int, from: Int, to: Int): ByteBuffer =
    if (c.update.length <= headerBytes) ByteBuffer.allocate(0)
    else ByteBuffer.wrap(c.update, headerBytes + 8 * from, 8 * (to - from))
}
