package dwell.data.rows

import dwell.base.SplitMix
import dwell.data.Flattener
import dwell.data.block.{NarrowValues, RowBlock}

/**
 * What one row block contributes to one partition of rows.
 *
 * @param block
 *   index of the row block; pieces are put together in this order
 * @param rows
 *   number of each row in the whole dataset, ascending
 * @param counts
 *   nonzeros of each row
 * @param indices
 *   feature of each nonzero, ascending within a row
 * @param values
 *   value of each nonzero
 * @param labels
 *   label of each row
 * @param weights
 *   weight of each row, or null where every weight in the block is 1
 */
private[data] final class RowPiece(
    val block: Int,
    val rows: Array[Int],
    val counts: Array[Int],
    val indices: Array[Int],
    val values: NarrowValues,
    val labels: Array[Double],
    val weights: Array[Double])
    extends Serializable

/** Rows to partitions: blocks are cut into pieces before the shuffle, pieces are put together after it. */
private[data] object RowDistribution {

  /**
   * Where row `row` goes. Of any K rows that follow one another from a multiple of K on, each partition gets one, so
   * partitions are equally large to within a row and get their share of every stretch of rows, as of a class in sorted
   * labels. Which one they get is hashed, so that no pattern of the rows repeats in a partition.
   */
  def partitionOf(row: Int, numPartitions: Int): Int = {
    val turn = (((SplitMix.mix(row / numPartitions + 1L) >>> 32) * numPartitions) >>> 32).toInt
    ((row % numPartitions + turn.toLong) % numPartitions).toInt
  }

  /**
   * Cuts a block into at most one piece per partition.
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
      firstRow: Int,
      numFeatures: Int,
      excluded: Array[Int],
      signedLabels: Boolean,
      numPartitions: Int): Iterator[(Int, RowPiece)] = {
    val left = new Array[Boolean](numFeatures)
    excluded.foreach(left(_) = true)
    val numRows = block.rows
    val rowsOf = new Array[Int](numPartitions)
    val nonzerosOf = new Array[Int](numPartitions)
    var j = 0
    while (j < numRows) {
      val k = partitionOf(firstRow + j, numPartitions)
      rowsOf(k) += 1
      var at = block.offsets(j)
      while (at < block.offsets(j + 1)) {
        if (!left(block.indices(at))) nonzerosOf(k) += 1
        at += 1
      }
      j += 1
    }

    val width = block.values.width
    val pieces = Array.tabulate(numPartitions) { k =>
      new RowPiece(
        block.index,
        new Array[Int](rowsOf(k)),
        new Array[Int](rowsOf(k)),
        new Array[Int](nonzerosOf(k)),
        NarrowValues.allocate(width, nonzerosOf(k)),
        new Array[Double](rowsOf(k)),
        if (block.weights == null) null else new Array[Double](rowsOf(k)))
    }

    // From here on these are where the partition's next row and nonzero go within its piece.
    java.util.Arrays.fill(rowsOf, 0)
    java.util.Arrays.fill(nonzerosOf, 0)
    j = 0
    while (j < numRows) {
      val k = partitionOf(firstRow + j, numPartitions)
      val piece = pieces(k)
      val start = nonzerosOf(k)
      var target = start
      var at = block.offsets(j)
      while (at < block.offsets(j + 1)) {
        if (!left(block.indices(at))) {
          piece.indices(target) = block.indices(at)
          block.values.copyTo(at, at + 1, piece.values, target)
          target += 1
        }
        at += 1
      }
      nonzerosOf(k) = target
      val row = rowsOf(k)
      piece.rows(row) = firstRow + j
      piece.counts(row) = target - start
      piece.labels(row) = if (!signedLabels) block.labels(j) else if (block.labels(j) > 0.0) 1.0 else -1.0
      if (block.weights != null) piece.weights(row) = block.weights(j)
      rowsOf(k) = row + 1
      j += 1
    }
    pieces.iterator.zipWithIndex.collect { case (piece, k) if piece.rows.length > 0 => (k, piece) }
  }

  /**
   * Puts the pieces of one partition together.
   *
   * @param weighted
   *   whether any row of the whole dataset has a weight other than 1
   * @param mixed
   *   see [[RowForm]]
   * @param scale
   *   scale of each feature, or null where every one is 1
   * @param mean
   *   mean of each feature, or null without intercept
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
    Flattener.checkLoad(index, numPartitions, pieces.map(_.indices.length.toLong).sum)
    // The shuffle delivers pieces in any order; block order makes rows ascend.
    val ordered = pieces.sortBy(_.block)
    val numRows = ordered.map(_.rows.length).sum
    val nonzeros = ordered.map(_.indices.length).sum
    val rows = new Array[Int](numRows)
    val offsets = new Array[Int](numRows + 1)
    val indices = new Array[Int](nonzeros)
    val values = NarrowValues.allocate(ordered.map(_.values.narrowest).maxOption.getOrElse(NarrowValues.Ones), nonzeros)
    val labels = new Array[Double](numRows)
    val weights = if (weighted) Array.fill(numRows)(1.0) else null
    val places = if (mixed) permutation(index, numRows) else Array.range(0, numRows)
    // Of each piece, the number that its first row has among those of the partition before they are mixed.
    val firsts = ordered.scanLeft(0)(_ + _.rows.length)
    ordered.zip(firsts).foreach { case (piece, first) =>
      var j = 0
      while (j < piece.rows.length) {
        offsets(places(first + j) + 1) = piece.counts(j)
        j += 1
      }
    }
    (0 until numRows).foreach(row => offsets(row + 1) += offsets(row))
    ordered.zip(firsts).foreach { case (piece, first) =>
      var start, j = 0
      while (j < piece.rows.length) {
        val place = places(first + j)
        val until = start + piece.counts(j)
        rows(place) = piece.rows(j)
        labels(place) = piece.labels(j)
        if (piece.weights != null) weights(place) = piece.weights(j)
        System.arraycopy(piece.indices, start, indices, offsets(place), piece.counts(j))
        piece.values.copyTo(start, until, values, offsets(place))
        start = until
        j += 1
      }
    }

    val norms = new Array[Double](numRows)
    val projections = if (mean == null) null else new Array[Double](numRows)
    var row = 0
    while (row < numRows) {
      var norm = 0.0
      var projection = 0.0
      var at = offsets(row)
      while (at < offsets(row + 1)) {
        val feature = indices(at)
        val scaled = if (scale == null) values(at) else scale(feature) * values(at)
        norm += scaled * values(at)
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
      rows,
      offsets,
      indices,
      values.values32,
      values.values64,
      labels,
      weights,
      norms,
      projections)
  }

  /** The same for the same partition, so that rows which are lost are put together as they were. */
  private def permutation(partition: Int, rows: Int): Array[Int] = {
    val places = new Array[Int](rows)
    SplitMix.forEpoch(0L, partition, 0L).permute(places)
    places
  }
}
