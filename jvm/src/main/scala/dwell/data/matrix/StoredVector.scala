package dwell.data.matrix

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.unsafe.Platform

/** A vector in Spark's memory format: the struct of `VectorUDT`, whose arrays are primitive and hold no nulls. */
object StoredVector {

  /** The number of fields of the struct. */
  val NumFields = 4

  // Positions of the fields.
  val Kind = 0
  val Size = 1
  val Indices = 2
  val Values = 3

  /** The kind of a dense vector, which has values only. */
  val Dense: Byte = 1

  /** The length of the vector of a row; -1 if there is none. */
  def size(row: InternalRow, ordinal: Int): Int =
    if (row.isNullAt(ordinal)) -1
    else {
      val vector = row.getStruct(ordinal, NumFields)
      if (vector.getByte(Kind) == Dense) vector.getArray(Values).numElements() else vector.getInt(Size)
    }

  /** Copies all elements to `target` from position `at` on: as one block of memory where Spark holds them so. */
  def copy(from: ArrayData, target: Array[Double], at: Int): Unit = from match {
    case unsafe: UnsafeArrayData => copy(unsafe, 8L, target, Platform.DOUBLE_ARRAY_OFFSET + 8L * at)
    case other => System.arraycopy(other.toDoubleArray(), 0, target, at, other.numElements())
  }

  /** The same for integers. */
  def copy(from: ArrayData, target: Array[Int], at: Int): Unit = from match {
    case unsafe: UnsafeArrayData => copy(unsafe, 4L, target, Platform.INT_ARRAY_OFFSET + 4L * at)
    case other => System.arraycopy(other.toIntArray(), 0, target, at, other.numElements())
  }

  private def copy(from: UnsafeArrayData, width: Long, target: AnyRef, offset: Long): Unit = {
    val elements = from.numElements()
    val first = from.getBaseOffset + UnsafeArrayData.calculateHeaderPortionInBytes(elements)
    Platform.copyMemory(from.getBaseObject, first, target, offset, width * elements)
  }
}
