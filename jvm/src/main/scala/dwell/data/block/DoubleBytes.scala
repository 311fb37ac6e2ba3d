package dwell.data.block

import java.nio.{ByteBuffer, ByteOrder}

/** Doubles as little-endian bytes, which Spark sends without a look at the elements. */
private[data] object DoubleBytes {

  def pack(values: Array[Double]): Array[Byte] = {
    val bytes = new Array[Byte](8 * values.length)
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().put(values)
    bytes
  }

  /** Unpacks `bytes` into `target` from position `at` on. */
  def unpack(bytes: Array[Byte], target: Array[Double], at: Int): Unit =
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().get(target, at, bytes.length / 8)
}
