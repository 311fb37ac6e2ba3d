package dwell.data.matrix

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.bitset.BitSetMethods

/**
 * A vector in Spark's memory format: the struct of `VectorUDT`. Whoever reads JSON or Parquet with a schema that has a vector
 * gets whatever the file holds, and Spark checks it only when it makes a Vector of the struct.
 */
object StoredVector {

  /** The number of fields of the struct. */
  val NumFields = 4

  // Positions of the fields.
  val Kind = 0
  val Size = 1
  val Indices = 2
  val Values = 3

  /** The kind of a sparse vector. */
  val Sparse: Byte = 0

  /** The kind of a dense vector, which has values only. */
  val Dense: Byte = 1

  /** What to do about a struct that is no vector. */
  val Fix = "Let Spark write vectors, or build them with Vectors.dense and Vectors.sparse"

  /**
   * The length of the vector of a row, or what makes the struct no vector.
   *
   * @return
   *   None if the row has no vector
   */
  def size(row: InternalRow, ordinal: Int): Option[Either[String, Int]] =
    if (row.isNullAt(ordinal)) None
    else
      Some {
        val vector = row.getStruct(ordinal, NumFields)
        val (found, values) = (indices(vector), array(vector, Values))
        Option(problem(vector, found, values))
          .toLeft(if (vector.getByte(Kind) == Dense) values.numElements() else vector.getInt(Size))
      }

  /** The indices of a sparse vector; null if there are none, as in a dense one. */
  def indices(vector: InternalRow): ArrayData = if (vector.getByte(Kind) == Dense) null else array(vector, Indices)

  /** An array of the struct, or null. */
  def array(vector: InternalRow, field: Int): ArrayData = if (vector.isNullAt(field)) null else vector.getArray(field)

  /**
   * What makes the struct no vector, whatever its numbers are, in Spark's words where Spark has some; null if it is one.
   *
   * @param indices
   *   see [[indices]]
   * @param values
   *   the array of values, or null
   */
  def problem(vector: InternalRow, indices: ArrayData, values: ArrayData): String = {
    val kind = vector.getByte(Kind)
    val isSparse = kind == Sparse
    if (!isSparse && kind != Dense) s"a vector of type $kind, where 0 is sparse and 1 is dense"
    else if (values == null) "a vector whose array of values is null"
    else if (isSparse && indices == null) "a sparse vector whose array of indices is null"
    else if (isSparse && vector.getInt(Size) < 0) {
      s"The size of the requested sparse vector must be no less than 0, and it is ${vector.getInt(Size)}"
    } else if (isSparse && indices.numElements() != values.numElements()) {
      "Sparse vectors require that the dimension of the indices match the dimension of the values, and there are " +
        s"${indices.numElements()} indices and ${values.numElements()} values"
    } else if (hasNull(values) || isSparse && hasNull(indices)) "a vector with a null among its indices or values"
    else null
  }

  private def hasNull(array: ArrayData): Boolean = array match {
    case unsafe: UnsafeArrayData =>
      // The number of elements stands before the bits.
      val words = UnsafeArrayData.calculateHeaderPortionInBytes(unsafe.numElements()) / 8 - 1
      BitSetMethods.anySet(unsafe.getBaseObject, unsafe.getBaseOffset + 8L, words.toLong)
    case other => (0 until other.numElements()).exists(other.isNullAt)
  }

  /**
   * Copies all elements to `target` from position `at` on: as one block of memory where Spark holds them so.
   *
   * @param length
   *   the number of elements, for which the caller has made room
   * @throws IllegalArgumentException
   *   if there are more or fewer, or if `target` has no room for them
   */
  def copy(from: ArrayData, length: Int, target: Array[Double], at: Int): Unit = {
    checkRoom(from, length, target.length, at)
    from match {
      case unsafe: UnsafeArrayData => copy(unsafe, 8L * length, target, Platform.DOUBLE_ARRAY_OFFSET + 8L * at)
      case other => System.arraycopy(other.toDoubleArray(), 0, target, at, length)
    }
  }

  /** The same for integers. */
  def copy(from: ArrayData, length: Int, target: Array[Int], at: Int): Unit = {
    checkRoom(from, length, target.length, at)
    from match {
      case unsafe: UnsafeArrayData => copy(unsafe, 4L * length, target, Platform.INT_ARRAY_OFFSET + 4L * at)
      case other => System.arraycopy(other.toIntArray(), 0, target, at, length)
    }
  }

  /** Past the end of an array a copy of memory ends the JVM. */
  private def checkRoom(from: ArrayData, length: Int, room: Int, at: Int): Unit =
    if (from.numElements() != length || at < 0 || length > room - at) {
      throw new IllegalArgumentException(s"${from.numElements()} elements, not $length, to $at of an array of $room")
    }

  private def copy(from: UnsafeArrayData, bytes: Long, target: AnyRef, offset: Long): Unit = {
    val first = from.getBaseOffset + UnsafeArrayData.calculateHeaderPortionInBytes(from.numElements())
    Platform.copyMemory(from.getBaseObject, first, target, offset, bytes)
  }
}
