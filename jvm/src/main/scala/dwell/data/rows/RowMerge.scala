package dwell.data.rows

import dwell.data.block.RowBlock
import dwell.data.matrix.{ExcludedFeatures, PartitionForm}
import dwell.data.merge.{BlockRows, DealtRows, MatrixMerge, MatrixPiece, PartitionMatrix, PartitionRows, WholeBlocks}
import dwell.problem.Labels

/**
 * Puts the rows of a partition together.
 *
 * @param weighted
 *   whether any row of the whole dataset has a weight other than 1
 * @param labels
 *   the labels that the solver takes
 * @param mixed
 *   see [[RowForm]]
 */
private[data] final class RowMerge(
    numFeatures: Int,
    weighted: Boolean,
    labels: Labels,
    mixed: Boolean,
    choice: PartitionForm.Choice)
    extends Serializable {

  /**
   * A partition of rows that were dealt to it, one by one.
   *
   * @param numRows
   *   number of rows of the whole dataset
   * @param facts
   *   of all rows, in any order of their blocks
   * @param pieces
   *   of all rows, in any order
   * @param scale
   *   scale of each feature, or null if every one is 1
   * @param mean
   *   mean of each feature, or null without an intercept
   * @throws IllegalArgumentException
   *   if the partition has too many rows or nonzeros for one array
   */
  def dealt(
      index: Int,
      numPartitions: Int,
      numRows: Long,
      facts: Iterator[RowFacts],
      pieces: Iterator[MatrixPiece],
      scale: Array[Double],
      mean: Array[Double]): RowPartition = {
    val rows = new DealtRows(index, numPartitions, numRows, mixed)
    // Few numbers for each row: these can wait until the sizes of all rows are known.
    val allFacts = facts.toArray
    val matrix = new MatrixMerge(rows, numFeatures, choice, allFacts.iterator.map(_.sizes))
    pieces.foreach(matrix.add)
    partition(rows, matrix.result, allFacts, scale, mean)
  }

  /**
   * A partition of whole blocks. It shares what arrays of a block it can.
   *
   * @param blocks
   *   gives at least one, in the order of the dataset, as often as asked; each has rows
   * @param firstRow
   *   number of the first row of a block in the whole dataset
   * @param excluded
   *   features whose nonzeros are left out
   * @param scale
   *   scale of each feature, or null if every one is 1
   * @param mean
   *   mean of each feature, or null without an intercept
   * @throws IllegalArgumentException
   *   if the partition has too many rows or nonzeros for one array
   */
  def ofBlocks(
      index: Int,
      numPartitions: Int,
      blocks: () => Iterator[RowBlock],
      firstRow: RowBlock => Long,
      excluded: ExcludedFeatures,
      scale: Array[Double],
      mean: Array[Double]): RowPartition = {
    val facts = blocks().map(block => RowFacts.whole(block, firstRow(block), excluded)).toArray
    val sizes = facts.map(_.sizes)
    val rows = new BlockRows(index, numPartitions, sizes.map(_.firstRow), sizes.map(_.blockRows), mixed)
    val matrix = WholeBlocks.together(rows, () => blocks().map(_.matrix), sizes, excluded, numFeatures, choice)
    partition(rows, matrix, facts, scale, mean)
  }

  private def partition(
      rows: PartitionRows,
      matrix: PartitionMatrix,
      facts: Array[RowFacts],
      scale: Array[Double],
      mean: Array[Double]): RowPartition = {
    val labels = this.labels.of(placed(rows, facts, _.labels))
    val weights = if (weighted) placed(rows, facts, _.weights) else null
    val norms = new Array[Double](rows.size)
    val projections = if (mean == null) null else new Array[Double](rows.size)
    var row = 0
    while (row < rows.size) {
      var norm = 0.0
      var projection = 0.0
      val start = matrix.offsets(row)
      var at = start
      while (at < matrix.offsets(row + 1)) {
        val feature = if (matrix.indices == null) at - start else matrix.indices(at)
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
      rows.index,
      numFeatures,
      matrix.numbers,
      matrix.offsets,
      matrix.indices,
      matrix.values.values32,
      matrix.values.values64,
      labels,
      weights,
      norms,
      projections)
  }

  /** A number of each row at its place; 1 where a block has none. One block in its own order lends its array. */
  private def placed(rows: PartitionRows, facts: Array[RowFacts], numbers: RowFacts => Array[Double]): Array[Double] = {
    val own = facts.map(numbers)
    if (own.length == 1 && own.head != null && !mixed) own.head
    else {
      val placed = new Array[Double](rows.size)
      java.util.Arrays.fill(placed, 1.0)
      facts.indices.foreach { k =>
        if (own(k) != null) facts(k).sizes.eachPlace(rows)((i, place) => placed(place) = own(k)(i))
      }
      placed
    }
  }
}
