package dwell.comm.wire

import java.nio.{ByteBuffer, ByteOrder}

/** A vector of doubles as it travels: little endian. */
private[dwell] object Model {

  def bytes(entries: Array[Double]): Array[Byte] = {
    val bytes = ByteBuffer.allocate(8 * entries.length).order(ByteOrder.LITTLE_ENDIAN)
    bytes.asDoubleBuffer().put(entries)
    bytes.array
  }

  def doubles(bytes: Array[Byte]): Array[Double] = {
    val entries = new Array[Double](bytes.length / 8)
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().get(entries)
    entries
  }
}
