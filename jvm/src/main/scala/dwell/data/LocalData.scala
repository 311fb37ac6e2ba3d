package dwell.data

import dwell.data.columns.ColumnPartition
import dwell.data.rows.{BlockArrays, BlockData}

/** The data of one partition, by columns or by rows. */
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
 * Rows: the dual orientation, and model averaging. Coordinates are dual variables. The shared vector has one entry for each feature.
 *
 * @param blocks
 *   at least one
 * @param scale
 *   inverse of each feature's penalty relative to l2, 0 for features that are left out; null if every one is 1
 * @param mean
 *   mean of each feature; null without an intercept, and for model averaging
 * @param isClassified
 *   whether labels are classes, 0 and 1
 */
final case class RowData(
    index: Int,
    features: Int,
    blocks: Array[BlockArrays],
    scale: Array[Double],
    mean: Array[Double],
    isClassified: Boolean)
    extends LocalData {
  override val coordinates: Int = blocks.map(_.rows).sum
  override def vectorLength: Int = features
  override def nonzeros: Long = blocks.map(_.stored.toLong).sum

  /** The same rows for sums over them. */
  def forSums: BlockData = BlockData(index, () => blocks.iterator)
}
