package dwell.data

import dwell.base.kernel.{DenseKernel, Kernel, SparseKernel}
import dwell.data.columns.ColumnPartition
import dwell.data.rows.RowPartition

/** The data of one partition, in the primal or the dual orientation. */
sealed trait LocalData {

  /** The partition's number, 0 to numPartitions - 1. */
  def index: Int

  /** The number of coordinates that the partition owns. */
  def coordinates: Int

  /** The length of the vector that all partitions share. */
  def vectorLength: Int

  /** The number of values that the partition stores. */
  def nonzeros: Long

  /** Products with the vectors of the coordinates. */
  private[dwell] def kernel: Kernel

  /** The name of what an entry of the shared vector belongs to, for messages. */
  private[dwell] def entryName: String

  /** The name of an entry of the shared vector, for messages. */
  private[dwell] def sharedName: String

  /**
   * Returns `value`, entry `j` of the vector `what` that the solver returns.
   *
   * @throws ArithmeticException
   *   if it is not finite
   */
  private[dwell] final def finite(value: Double, what: String, j: Int): Double =
    if (!value.isNaN && !value.isInfinite) value
    else throw new ArithmeticException(s"the $what of $entryName $j overflowed: scale the features or the labels down")
}

/**
 * Columns: the primal orientation. Coordinates are coefficients. The shared vector has one entry for each row.
 *
 * @param weights
 *   weight of each row of the dataset, or null if every weight is 1
 */
final case class ColumnData(partition: ColumnPartition, weights: Array[Double]) extends LocalData {
  override private[dwell] def kernel: Kernel =
    if (partition.isDense) DenseKernel(vectorLength, partition.values32, partition.values64)
    else SparseKernel(partition.offsets, partition.indices, partition.values32, partition.values64)
  override def index: Int = partition.index
  override def coordinates: Int = partition.numColumns
  override def vectorLength: Int = partition.rows
  override def nonzeros: Long = partition.nonzeros.toLong
  override private[dwell] def entryName: String = "row"
  override private[dwell] def sharedName: String = "residual"
}

/**
 * Rows: the dual orientation. Coordinates are dual variables. The shared vector has one entry for each feature.
 *
 * @param scale
 *   inverse of each feature's penalty relative to l2, 0 for features that are left out; null if every one is 1
 */
final case class RowData(partition: RowPartition, scale: Array[Double]) extends LocalData {
  override private[dwell] def kernel: Kernel =
    if (partition.isDense) DenseKernel(vectorLength, partition.values32, partition.values64)
    else SparseKernel(partition.offsets, partition.indices, partition.values32, partition.values64)
  override def index: Int = partition.index
  override def coordinates: Int = partition.numRows
  override def vectorLength: Int = partition.features
  override def nonzeros: Long = partition.nonzeros.toLong
  override private[dwell] def entryName: String = "feature"
  override private[dwell] def sharedName: String = "coefficient"
}
