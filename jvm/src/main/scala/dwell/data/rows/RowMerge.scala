package dwell.data.rows

import dwell.data.matrix.{MatrixMerge, MatrixPiece, PartitionForm}

/**
 * Puts the rows of one partition together.
 *
 * @param numRows
 *   number of rows of the whole dataset
 * @param weighted
 *   whether any row of the whole dataset has a weight other than 1
 * @param signedLabels
 *   whether labels 0 and 1 become -1 and 1
 * @param mixed
 *   see [[RowForm]]
 */
private[data] final class RowMerge(
    index: Int,
    numPartitions: Int,
    numRows: Long,
    numFeatures: Int,
    weighted: Boolean,
    signedLabels: Boolean,
    mixed: Boolean,
    choice: PartitionForm.Choice) {

  /**
   * The partition.
   *
   * @param facts
   *   of all rows, in any order of their blocks
   * @param pieces
   *   of all rows, in any order
   * @param scale
   *   scale of each feature, or null if every one is 1
   * @param mean
   *   mean of each feature, or null without an intercept
   * @throws IllegalArgumentException
   *   if the partition has too many nonzeros for one array
   */
  def apply(
      facts: Iterator[RowFacts],
      pieces: Iterator[MatrixPiece],
      scale: Array[Double],
      mean: Array[Double]): RowPartition = {
    // Few numbers for each row: these can wait until the sizes of all rows are known.
    val allFacts = facts.toArray
    val matrix =
      new MatrixMerge(index, numPartitions, numRows, numFeatures, mixed, choice, allFacts.iterator.map(_.sizes))
    val labels = new Array[Double](matrix.size)
    val weights = if (weighted) Array.fill(matrix.size)(1.0) else null
    allFacts.foreach { f =>
      matrix.eachPlace(f.sizes) { (i, place) =>
        labels(place) = if (!signedLabels) f.labels(i) else if (f.labels(i) > 0.0) 1.0 else -1.0
        if (f.weights != null) weights(place) = f.weights(i)
      }
    }
    pieces.foreach(matrix.add)

    val norms = new Array[Double](matrix.size)
    val projections = if (mean == null) null else new Array[Double](matrix.size)
    var row = 0
    while (row < matrix.size) {
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
