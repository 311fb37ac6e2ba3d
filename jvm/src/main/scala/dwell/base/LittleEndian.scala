package dwell.base

import java.nio.{ByteBuffer, ByteOrder, DoubleBuffer}

/**
 * Numbers as little-endian bytes. Vectors travel in this form, since Spark moves a byte array without looking at its
 * elements, and native code reads and writes it in place.
 */
private[dwell] object LittleEndian {

  /** The values as bytes, 8 each. */
  def bytes(values: Array[Double]): Array[Byte] = {
    val bytes = new Array[Byte](8 * values.length)
    view(bytes).put(values)
    bytes
  }

  /** The doubles that `bytes` holds. */
  def doubles(bytes: Array[Byte]): Array[Double] = {
    val values = new Array[Double](bytes.length / 8)
    copy(bytes, values, 0)
    values
  }

  /** Copies the doubles that `bytes` holds to `target`, from position `at` on. */
  def copy(bytes: Array[Byte], target: Array[Double], at: Int): Unit = view(bytes).get(target, at, bytes.length / 8)

  /** The doubles that `bytes` holds, as a view. */
  def view(bytes: Array[Byte]): DoubleBuffer = buffer(bytes).asDoubleBuffer()

  /** A buffer over `bytes`. */
  def buffer(bytes: Array[Byte]): ByteBuffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)

  /** A buffer over the same bytes, with a position and a limit of its own. */
  def buffer(bytes: ByteBuffer): ByteBuffer = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN)
}
