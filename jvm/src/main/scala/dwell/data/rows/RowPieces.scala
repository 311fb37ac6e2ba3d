package dwell.data.rows

import dwell.data.block.RowBlock
import dwell.data.matrix.{MatrixPiece, RowDistribution}

/**
 * The rows of one block that go to one partition.
 *
 * @param labels
 *   label of each row
 * @param weights
 *   weight of each row, or null if every weight in the block is 1
 */
private[data] final class RowPiece(val matrix: MatrixPiece, val labels: Array[Double], val weights: Array[Double])
    extends Serializable

/** Moves rows with their labels and weights to partitions: cuts blocks before the shuffle, merges pieces after it. */
private[data] object RowPieces {

  /**
   * Cuts a block into at most one piece for each partition.
   *
   * @param firstRow
   *   number of the block's first row in the whole dataset
   * @param excluded
   *   features whose nonzeros are left out
   * @param signedLabels
   *   whether labels 0 and 1 become -1 and 1
   */
  def cut(
      block: RowBlock,
      firstRow: Long,
      numFeatures: Int,
      excluded: Array[Int],
      signedLabels: Boolean,
      numPartitions: Int): Iterator[(Int, RowPiece)] =
    RowDistribution.cut(block.matrix, firstRow, numFeatures, excluded, numPartitions).map { case (k, matrix) =>
      val labels = matrix.rows.map(block.labels(_))
      val weights = if (block.weights == null) null else matrix.rows.map(block.weights(_))
      (
        k,
        new RowPiece(
          matrix,
          if (signedLabels) labels.map(label => if (label > 0.0) 1.0 else -1.0) else labels,
          weights))
    }

  /**
   * Merges the pieces of one partition.
   *
   * @param weighted
   *   whether any row of the whole dataset has a weight other than 1
   * @param mixed
   *   see [[RowForm]]
   * @param scale
   *   scale of each feature, or null if every one is 1
   * @param mean
   *   mean of each feature, or null without an intercept
   */
  def merge(
      index: Int,
      numPartitions: Int,
      pieces: Array[RowPiece],
      numFeatures: Int,
      weighted: Boolean,
      mixed: Boolean,
      scale: Array[Double],
      mean: Array[Double]): RowPartition = {
    // The shuffle delivers pieces in any order; block order makes rows ascend.
    val ordered = pieces.sortBy(_.matrix.block)
    val matrix = RowDistribution.merge(index, numPartitions, ordered.map(_.matrix), mixed)
    val numRows = matrix.rows.length
    val labels = new Array[Double](numRows)
    val weights = if (weighted) Array.fill(numRows)(1.0) else null
    var next = 0
    ordered.foreach { piece =>
      var j = 0
      while (j < piece.labels.length) {
        val place = matrix.places(next)
        labels(place) = piece.labels(j)
        if (piece.weights != null) weights(place) = piece.weights(j)
        next += 1
        j += 1
      }
    }

    val norms = new Array[Double](numRows)
    val projections = if (mean == null) null else new Array[Double](numRows)
    var row = 0
    while (row < numRows) {
      var norm = 0.0
      var projection = 0.0
      var at = matrix.offsets(row)
      while (at < matrix.offsets(row + 1)) {
        val feature = matrix.indices(at)
        val scaled = if (scale == null) matrix.values(at) else scale(feature) * matrix.values(at)
        norm += scaled * matrix.values(at)
        if (mean != null) projection += scaled * mean(feature)
        at += 1
      }
      norms(row) = norm
      if (projections != null) projections(row) = projection
      row += 1
    }
    new RowPartition(
      index,
      numFeatures,
      matrix.rows,
      matrix.offsets,
      matrix.indices,
      matrix.values.values32,
      matrix.values.values64,
      labels,
      weights,
      norms,
      projections)
  }
}
