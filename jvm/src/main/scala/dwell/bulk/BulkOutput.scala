package dwell.bulk

import java.io.DataOutput

import dwell.base.LittleEndian

/** Writes numbers and arrays of numbers as little-endian bytes. Arrays are copied in bulk, through a small buffer. */
private[dwell] final class BulkOutput(out: DataOutput) {
  private val bytes = new Array[Byte](BulkOutput.BufferBytes)
  private val buffer = LittleEndian.buffer(bytes)
  private val ints = buffer.asIntBuffer()
  private val (floats, doubles) = (buffer.asFloatBuffer(), buffer.asDoubleBuffer())

  def int(value: Int): Unit = {
    buffer.putInt(0, value)
    out.write(bytes, 0, 4)
  }

  def long(value: Long): Unit = {
    buffer.putLong(0, value)
    out.write(bytes, 0, 8)
  }

  /** Writes an array, which may be null. */
  def array(array: Array[Int]): Unit = if (array == null) int(BulkOutput.Null)
  else {
    int(array.length)
    inPortions(array.length, 4)((from, length) => ints.clear().put(array, from, length))
  }

  /** Writes an array, which may be null. */
  def array(array: Array[Float]): Unit = if (array == null) int(BulkOutput.Null)
  else {
    int(array.length)
    inPortions(array.length, 4)((from, length) => floats.clear().put(array, from, length))
  }

  /** Writes an array, which may be null. */
  def array(array: Array[Double]): Unit = if (array == null) int(BulkOutput.Null)
  else {
    int(array.length)
    inPortions(array.length, 8)((from, length) => doubles.clear().put(array, from, length))
  }

  /** Writes a text, which may be null. */
  def text(text: String): Unit = array(if (text == null) null else text.toCharArray.map(_.toInt))

  private def inPortions(length: Int, width: Int)(fill: (Int, Int) => Unit): Unit = {
    var from = 0
    while (from < length) {
      val portion = math.min(length - from, bytes.length / width)
      fill(from, portion)
      out.write(bytes, 0, portion * width)
      from += portion
    }
  }
}

private[bulk] object BulkOutput {
  val BufferBytes: Int = 1 << 15

  /** Stands where the length of an array would. */
  val Null: Int = -1
}
