package dwell.comm.wire

import java.nio.{ByteBuffer, ByteOrder}

/** Converts vectors of doubles to and from the bytes that travel: 8 bytes an entry, little endian. */
private[dwell] object Model {

  /** The bytes of a vector. */
  def bytes(entries: Array[Double]): Array[Byte] = {
    val bytes = ByteBuffer.allocate(8 * entries.length).order(ByteOrder.LITTLE_ENDIAN)
    bytes.asDoubleBuffer().put(entries)
    bytes.array
  }

  /** The vector of these bytes. */
  def doubles(bytes: Array[Byte]): Array[Double] = {
    val entries = new Array[Double](bytes.length / 8)
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().get(entries)
    entries
  }
}
