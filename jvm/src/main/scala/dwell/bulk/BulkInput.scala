package dwell.bulk

import java.io.DataInput

import dwell.base.LittleEndian

/** Reads what [[BulkOutput]] wrote. A stream that ends before it throws an `EOFException`. */
private[dwell] final class BulkInput(in: DataInput) {
  private val bytes = new Array[Byte](BulkOutput.BufferBytes)
  private val buffer = LittleEndian.buffer(bytes)
  private val (ints, longs) = (buffer.asIntBuffer(), buffer.asLongBuffer())
  private val (floats, doubles) = (buffer.asFloatBuffer(), buffer.asDoubleBuffer())

  def int(): Int = {
    in.readFully(bytes, 0, 4)
    buffer.getInt(0)
  }

  def long(): Long = {
    in.readFully(bytes, 0, 8)
    buffer.getLong(0)
  }

  /** An array, or null if that was written. */
  def intArray(): Array[Int] = int() match {
    case BulkOutput.Null => null
    case length =>
      val array = new Array[Int](length)
      inPortions(length, 4)((from, portion) => ints.clear().get(array, from, portion))
      array
  }

  /** An array, or null if that was written. */
  def longArray(): Array[Long] = int() match {
    case BulkOutput.Null => null
    case length =>
      val array = new Array[Long](length)
      inPortions(length, 8)((from, portion) => longs.clear().get(array, from, portion))
      array
  }

  /** An array, or null if that was written. */
  def floatArray(): Array[Float] = int() match {
    case BulkOutput.Null => null
    case length =>
      val array = new Array[Float](length)
      inPortions(length, 4)((from, portion) => floats.clear().get(array, from, portion))
      array
  }

  /** An array, or null if that was written. */
  def doubleArray(): Array[Double] = int() match {
    case BulkOutput.Null => null
    case length =>
      val array = new Array[Double](length)
      inPortions(length, 8)((from, portion) => doubles.clear().get(array, from, portion))
      array
  }

  /** A text, or null if that was written. */
  def text(): String = {
    val characters = intArray()
    if (characters == null) null else new String(characters.map(_.toChar))
  }

  private def inPortions(length: Int, width: Int)(empty: (Int, Int) => Unit): Unit = {
    var from = 0
    while (from < length) {
      val portion = math.min(length - from, bytes.length / width)
      in.readFully(bytes, 0, portion * width)
      empty(from, portion)
      from += portion
    }
  }
}
