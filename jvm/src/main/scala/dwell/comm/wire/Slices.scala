package dwell.comm.wire

import java.nio.ByteBuffer

/** Vectors cut into slices of about the same length. */
private[comm] final class Slices(whole: VectorFormat, count: Int) extends Serializable {

  /** How slices travel. */
  val codec: SliceCodec = whole.codec

  /** First entry of a slice. */
  def start(slice: Int): Int = (whole.length.toLong * slice / count).toInt

  /** Entries of a slice. */
  def size(slice: Int): Int = start(slice + 1) - start(slice)

  /** What a slice looks like by itself. */
  def format(slice: Int): VectorFormat = whole.copy(headerBytes = 0, length = size(slice))

  /** The slice of a vector in little-endian bytes, which may be empty altogether. */
  def of(bytes: Array[Byte], slice: Int): ByteBuffer =
    if (bytes.isEmpty) ByteBuffer.wrap(bytes) else ByteBuffer.wrap(bytes, 8 * start(slice), 8 * size(slice))

  /**
   * The slice of the vector of a contribution as [[SliceCodec]] has it; empty where the worker has nothing to add.
   *
   * @param shared
   *   the shared vector that the worker was given
   */
  def encoded(c: Contribution[_], slice: Int, shared: Array[Byte]): ByteBuffer =
    codec.encode(of(c, slice), c.factors, of(shared, slice))

  /** The slice of the vector of a contribution; empty where the worker has nothing to add. */
  def of(c: Contribution[_], slice: Int): ByteBuffer =
    Contribution.entries(c, whole.headerBytes, start(slice), start(slice + 1))

  /** Puts a slice, encoded without factors, in its place. */
  def put(vector: Array[Byte], slice: Int, bytes: ByteBuffer): Unit =
    of(vector, slice).put(codec.decode(bytes, size(slice)).duplicate())
}
