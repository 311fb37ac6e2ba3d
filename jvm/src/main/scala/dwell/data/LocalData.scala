package dwell.data

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
}

/**
 * Columns: the primal orientation. Coordinates are coefficients. The shared vector has one entry for each row.
 *
 * @param weights
 *   weight of each row of the dataset, or null if every weight is 1
 */
final case class ColumnData(partition: ColumnPartition, weights: Array[Double]) extends LocalData {
  override def index: Int = partition.index
  override def coordinates: Int = partition.numColumns
  override def vectorLength: Int = partition.rows
  override def nonzeros: Long = partition.nonzeros.toLong
}

/**
 * Rows: the dual orientation. Coordinates are dual variables. The shared vector has one entry for each feature.
 *
 * @param scale
 *   inverse of each feature's penalty relative to l2, 0 for features that are left out; null if every one is 1
 */
final case class RowData(partition: RowPartition, scale: Array[Double]) extends LocalData {
  override def index: Int = partition.index
  override def coordinates: Int = partition.numRows
  override def vectorLength: Int = partition.features
  override def nonzeros: Long = partition.nonzeros.toLong
}
