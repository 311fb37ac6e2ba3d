package dwell.bulk

import java.io.DataInput
import java.util.Arrays

import dwell.base.LittleEndian

/** Reads what [[BulkOutput]] wrote. A stream that ends before it throws an `EOFException`. */
private[dwell] final class BulkInput(in: DataInput) {
  import BulkInput._

  private val bytes = new Array[Byte](BulkOutput.BufferBytes)
  private val buffer = LittleEndian.buffer(bytes)
  private val ints = buffer.asIntBuffer()
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
  def intArray(): Array[Int] =
    array(Array.emptyIntArray, 4)(Arrays.copyOf(_, _))(ints.clear().get(_, _, _))

  /** An array, or null if that was written. */
  def floatArray(): Array[Float] =
    array(Array.emptyFloatArray, 4)(Arrays.copyOf(_, _))(floats.clear().get(_, _, _))

  /** An array, or null if that was written. */
  def doubleArray(): Array[Double] =
    array(Array.emptyDoubleArray, 8)(Arrays.copyOf(_, _))(doubles.clear().get(_, _, _))

  /** A text, or null if that was written. */
  def text(): String = {
    val characters = intArray()
    if (characters == null) null else new String(characters.map(_.toChar))
  }

  /**
   * Reads an array. There is room for more than a few numbers only once an eighth of them has come: a broken stream can claim any
   * length.
   *
   * @param width
   *   bytes of a number
   * @param copy
   *   copies an array into one of another length
   * @param fill
   *   copies numbers from the buffer into the array from a position on
   */
  private def array[A >: Null](none: A, width: Int)(copy: (A, Int) => A)(fill: (A, Int, Int) => Any): A = int() match {
    case BulkOutput.Null => null
    case length =>
      var room = Iterator.iterate(length)(n => n / 8 + 1).dropWhile(_ > MostUnseen).next()
      var array = copy(none, room)
      var from = 0
      while (from < length) {
        if (from == room) {
          room = math.min(length.toLong, 8L * room).toInt
          array = copy(array, room)
        }
        val portion = math.min(room - from, bytes.length / width)
        in.readFully(bytes, 0, portion * width)
        fill(array, from, portion)
        from += portion
      }
      array
  }
}

private object BulkInput {

  /** Numbers that have room before any of them has come. */
  private val MostUnseen = 1 << 20
}
