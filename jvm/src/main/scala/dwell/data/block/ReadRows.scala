package dwell.data.block

import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD

import dwell.data.matrix.{BlockIndex, ConstantColumns}

/**
 * Rows as they were read and validated: blocks cached on the workers, labels and weights on the driver. Rows are numbered over
 * the whole dataset, those of weight 0 left out.
 *
 * @param numFeatures
 *   length of the feature vectors, n, constant features included
 * @param labels
 *   label of each row
 * @param weights
 *   weight of each row, or null where every weight is 1
 * @param nonzeros
 *   nonzeros of all rows, those of constant features included
 * @param title
 *   what the cached data is called on Spark's storage page
 * @param names
 *   names of the DataFrame columns, for error messages
 */
private[data] final class ReadRows(
    blocks: RDD[RowBlock],
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

  /** Rows of positive weight, m. */
  def numRows: Int = labels.length

  /** Sum of the weights, S; the number of rows where every weight is 1. */
  def totalWeight: Double = labelMoments.totalWeight

  /** The cached rows. A block that was lost and read again passes only if it is the same. */
  def verifiedBlocks: RDD[RowBlock] = {
    val index = this.index // not all of the rows on the driver
    blocks.mapPartitions(it => Iterator.single(index.verified(it.next())))
  }

  /** Row blocks, one a partition of the source. */
  def numBlocks: Int = index.fingerprints.length

  def hasBinaryLabels: Boolean = labels.forall(y => y == 0.0 || y == 1.0)

  /** Releases the cached blocks. */
  def unpersist(): Unit = Cached.release(blocks, Seq.empty)
}
