package dwell.data.rows

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD

import dwell.bulk.BulkShuffle
import dwell.data.block.ReadRows
import dwell.data.cache.Cached
import dwell.data.matrix.ExcludedFeatures
import dwell.data.merge.MatrixPiece

/**
 * The rows on their way to partitions: one shuffle brings what there is to know of them, the other their features.
 *
 * @param facts
 *   pieces with the numbers of their partitions, for each partition as one of Spark's
 * @param features
 *   likewise
 * @param numRows
 *   number of rows of the whole dataset
 */
private[data] final class RowShuffle private (
    facts: RDD[(Int, RowFacts)],
    features: RDD[(Int, MatrixPiece)],
    numRows: Long)
    extends RowPlacement {

  override def numPartitions: Int = facts.getNumPartitions

  override def isShuffle: Boolean = true

  override def partitions(
      merge: RowMerge,
      scale: Broadcast[Array[Double]],
      mean: Broadcast[Array[Double]]): RDD[RowPartition] = {
    val (numPartitions, numRows) = (this.numPartitions, this.numRows)
    BulkShuffle.together(facts, features) { (k, facts, pieces) =>
      merge.dealt(k, numPartitions, numRows, facts, pieces, Cached.valueOf(scale), Cached.valueOf(mean))
    }
  }

  /** Removes the files of the shuffles. */
  def clean(): Unit = {
    facts.cleanShuffleDependencies()
    features.cleanShuffleDependencies()
  }
}

private[data] object RowShuffle {

  /**
   * @param excluded
   *   features whose nonzeros are left out
   */
  def of(rows: ReadRows, excluded: Array[Int], numPartitions: Int): RowShuffle = {
    val index = rows.index
    val numFeatures = rows.numFeatures
    val facts = rows.verifiedBlocks.flatMap { block =>
      RowFacts.of(block, index.firstRow(block), new ExcludedFeatures(excluded, numFeatures), numPartitions)
    }
    val features = rows.verifiedBlocks.flatMap { block =>
      val left = new ExcludedFeatures(excluded, numFeatures)
      MatrixPiece.cut(block.matrix, index.firstRow(block), left, numPartitions)
    }
    new RowShuffle(
      BulkShuffle.byIndex(facts, numPartitions, RowFacts),
      BulkShuffle.byIndex(features, numPartitions, MatrixPiece),
      rows.numRows)
  }
}
