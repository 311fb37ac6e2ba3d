package dwell.comm.wire

import java.nio.ByteBuffer

import dwell.base.SliceBounds

/** Cuts vectors into slices. */
private[comm] final class Slices(whole: VectorFormat, bounds: SliceBounds) extends Serializable {

  /** Cuts vectors into `count` slices of about the same length. */
  def this(whole: VectorFormat, count: Int) = this(whole, SliceBounds(whole.length, count))

  /** The codec of the slices. */
  val codec: SliceCodec = whole.codec

  /** The first entry of a slice. */
  def start(slice: Int): Int = bounds.start(slice)

  /** The number of entries of a slice. */
  def size(slice: Int): Int = bounds.size(slice)

  /** The format of a slice by itself, without a header. */
  def format(slice: Int): VectorFormat = whole.copy(headerBytes = 0, length = size(slice))

  /** A view of the slice of a vector in little-endian bytes; empty if the array is empty. */
  def of(bytes: Array[Byte], slice: Int): ByteBuffer =
    if (bytes.isEmpty) ByteBuffer.wrap(bytes) else ByteBuffer.wrap(bytes, 8 * start(slice), 8 * size(slice))

  /**
   * The slice of the vector of a contribution, encoded by [[SliceCodec]]; empty if the worker has nothing to add.
   *
   * @param shared
   *   the shared vector that the worker was given
   */
  def encoded(c: Contribution[_], slice: Int, shared: Array[Byte]): ByteBuffer =
    codec.encode(of(c, slice), c.factors, of(shared, slice))

  /** The slice of the vector of a contribution; empty if the worker has nothing to add. */
  def of(c: Contribution[_], slice: Int): ByteBuffer =
    Contribution.entries(c, whole.headerBytes, start(slice), start(slice + 1))

  /** Decodes a slice that was encoded without factors into its place in the vector. */
  def put(vector: Array[Byte], slice: Int, bytes: ByteBuffer): Unit =
    of(vector, slice).put(codec.decode(bytes, size(slice)).duplicate())
}
