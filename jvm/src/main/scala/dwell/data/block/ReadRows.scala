package dwell.data.block

import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD

import dwell.bulk.Kept
import dwell.data.matrix.{BlockIndex, ConstantColumns}

/**
 * Rows, read and validated: blocks cached on the workers, labels and weights on the driver. Rows have numbers over the
 * whole dataset, without those of weight 0.
 *
 * @param numFeatures
 *   length of the feature vectors, n, including constant features
 * @param labels
 *   label of each row
 * @param weights
 *   weight of each row, or null if every weight is 1
 * @param nonzeros
 *   number of nonzeros of all rows, including those of constant features
 * @param constant
 *   the features that have one nonzero value in all rows
 * @param title
 *   name of the cached data on Spark's storage page
 * @param names
 *   names of the DataFrame columns, for error messages
 */
private[data] final class ReadRows(
    blocks: Kept[RowBlock],
    val index: BlockIndex,
    val numFeatures: Int,
    val labels: Array[Double],
    val weights: Array[Double],
    val labelMoments: LabelMoments,
    val nonzeros: Long,
    val constant: ConstantColumns,
    val title: String,
    val names: ColumnNames) {

  def sc: SparkContext = blocks.sparkContext

  /** The number of rows of positive weight, m. */
  def numRows: Int = labels.length

  /** The sum of the weights, S. */
  def totalWeight: Double = labelMoments.totalWeight

  private val readBlocks = new ReadBlocks(blocks, index, s"$title: rows on disk")

  /** The blocks. A task fails with [[dwell.base.InputChangedException]] if a block was read again and differs. */
  def verifiedBlocks: RDD[RowBlock] = readBlocks.verified

  /** Moves the blocks from memory to disk, once datasets hold the rows in forms of their own. */
  def moveToDisk(): Unit = readBlocks.moveToDisk()

  /** The number of row blocks, one for each partition of the source. */
  def numBlocks: Int = index.fingerprints.length

  /** Whether all labels are 0 or 1. */
  def hasBinaryLabels: Boolean = labels.forall(y => y == 0.0 || y == 1.0)

  /** Releases the cached blocks. */
  def unpersist(): Unit = readBlocks.release()
}
