package dwell.data.block

import java.nio.{ByteBuffer, ByteOrder}

/** Packs doubles into little-endian bytes, which Spark serialises without visiting each element. */
private[data] object DoubleBytes {

  /** 8 bytes for each value. */
  def pack(values: Array[Double]): Array[Byte] = {
    val bytes = new Array[Byte](8 * values.length)
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().put(values)
    bytes
  }

  /** Unpacks `bytes` into `target` from position `at` on. */
  def unpack(bytes: Array[Byte], target: Array[Double], at: Int): Unit =
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().get(target, at, bytes.length / 8)
}
