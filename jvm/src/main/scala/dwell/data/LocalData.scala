package dwell.data

import dwell.base.SparseKernel
import dwell.data.columns.ColumnPartition
import dwell.data.rows.RowPartition

/** The data of one partition, in one of the two orientations. */
sealed trait LocalData {

  /** Which partition this is, 0 to numPartitions - 1. */
  def index: Int

  /** Coordinates that the partition owns. */
  def coordinates: Int

  /** Entries of the vector that all partitions share. */
  def vectorLength: Int

  def nonzeros: Long

  /** Products with the sparse vectors of the coordinates. */
  private[dwell] def kernel: SparseKernel

  /** What an entry of the shared vector belongs to, for messages. */
  private[dwell] def entryName: String

  /** What the shared vector is, for messages. */
  private[dwell] def sharedName: String

  /** `value`, entry `j` of a vector that the solver returns; an error if it is not finite. */
  private[dwell] final def finite(value: Double, what: String, j: Int): Double =
    if (!value.isNaN && !value.isInfinite) value
    else throw new ArithmeticException(s"the $what of $entryName $j overflowed: scale the features or the labels down")
}

/**
 * Columns: the primal orientation. Coordinates are coefficients, the shared vector has one entry per row.
 *
 * @param weights
 *   row weights, one a row of the dataset, or null where every weight is 1
 */
final case class ColumnData(partition: ColumnPartition, weights: Array[Double]) extends LocalData {
  override private[dwell] def kernel: SparseKernel =
    SparseKernel(partition.offsets, partition.indices, partition.values32, partition.values64)
  override def index: Int = partition.index
  override def coordinates: Int = partition.numColumns
  override def vectorLength: Int = partition.rows
  override def nonzeros: Long = partition.nonzeros.toLong
  override private[dwell] def entryName: String = "row"
  override private[dwell] def sharedName: String = "residual"
}

/**
 * Rows: the dual orientation. Coordinates are dual variables, the shared vector has one entry per feature.
 *
 * @param scale
 *   inverse of each feature's penalty relative to l2, 0 for features that are left out; null where every one is 1
 */
final case class RowData(partition: RowPartition, scale: Array[Double]) extends LocalData {
  override private[dwell] def kernel: SparseKernel =
    SparseKernel(partition.offsets, partition.indices, partition.values32, partition.values64)
  override def index: Int = partition.index
  override def coordinates: Int = partition.numRows
  override def vectorLength: Int = partition.features
  override def nonzeros: Long = partition.nonzeros.toLong
  override private[dwell] def entryName: String = "feature"
  override private[dwell] def sharedName: String = "coefficient"
}
