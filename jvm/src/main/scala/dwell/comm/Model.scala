package dwell.comm

import java.nio.{ByteBuffer, ByteOrder}

/** A vector as it travels: little endian. */
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

  /** @throws IllegalArgumentException if these are not the bytes of so many entries */
  def check(bytes: Array[Byte], length: Int): Unit =
    require(bytes.length == 8L * length, s"a model has ${bytes.length} bytes where ${8L * length} were expected")
}
