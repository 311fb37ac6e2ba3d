package dwell.comm

import java.nio.{ByteBuffer, ByteOrder}

/** A vector cut into slices of about the same length. */
private[comm] final class Slices(length: Int, count: Int) extends Serializable {

  /** First entry of a slice. */
  def start(slice: Int): Int = (length.toLong * slice / count).toInt

  /** Entries of a slice. */
  def size(slice: Int): Int = start(slice + 1) - start(slice)

  /** The slice of a vector in little-endian bytes, which may be empty altogether. */
  def of(bytes: Array[Byte], slice: Int): ByteBuffer =
    if (bytes.isEmpty) ByteBuffer.wrap(bytes) else ByteBuffer.wrap(bytes, 8 * start(slice), 8 * size(slice))

  /**
   * The slice of the vector of a contribution as [[SliceCodec]] has it; empty where the worker has nothing to add.
   *
   * @param shared
   *   the shared vector that the worker was given
   */
  def encoded(c: Contribution[_], headerBytes: Int, slice: Int, shared: Array[Byte]): ByteBuffer =
    SliceCodec.encode(of(c, headerBytes, slice), c.factors, of(shared, slice))

  /** The slice of the vector of a contribution; empty where the worker has nothing to add. */
  def of(c: Contribution[_], headerBytes: Int, slice: Int): ByteBuffer =
    Contribution.entries(c, headerBytes, start(slice), start(slice + 1))

  /** Puts the slice of a sum in its place. */
  def put(sum: Array[Double], slice: Int, bytes: ByteBuffer): Unit =
    bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().get(sum, start(slice), size(slice))
}
