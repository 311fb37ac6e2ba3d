package dwell.data.block

import org.apache.spark.ml.linalg.{DenseVector, SparseVector, Vector}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData

/** One row of training data, as tests write it down. */
final case class LabeledRow(label: Double, weight: Double, features: Vector) {

  /** The row with the columns of [[TrainingRow]]. */
  def toInternal: InternalRow = InternalRow(label, weight, LabeledRow.stored(features))
}

object LabeledRow {

  /** A row that has a vector only. */
  def ofVector(vector: Vector): InternalRow = InternalRow(stored(vector))

  /** A vector as Spark stores it; null for null. */
  private def stored(vector: Vector): InternalRow = vector match {
    case null => null
    case dense: DenseVector => InternalRow(1.toByte, null, null, UnsafeArrayData.fromPrimitiveArray(dense.values))
    case sparse: SparseVector =>
      val (indices, values) =
        (UnsafeArrayData.fromPrimitiveArray(sparse.indices), UnsafeArrayData.fromPrimitiveArray(sparse.values))
      InternalRow(0.toByte, sparse.size, indices, values)
  }
}
