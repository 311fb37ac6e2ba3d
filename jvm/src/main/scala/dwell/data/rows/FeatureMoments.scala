package dwell.data.rows

import dwell.base.LittleEndian
import dwell.data.block.{ColumnNames, LabelMoments, ReadRows, RowBlock}
import dwell.data.matrix.{ColumnCounts, IndexRanges}
import dwell.data.moments.{MergedMoments, MomentPiece, PackedMoments, PartitionMoments}
import dwell.spark.{Answers, Shuffle, TaskFailure}

/**
 * Weighted moments of each feature over all rows, including implicit zeros. Features that are not solved for have 0 in
 * every array.
 *
 * @param mean
 *   weighted mean
 * @param variance
 *   weighted population variance; positive for the features that are solved for
 * @param classSums
 *   sums by class, or null unless all labels are 0 or 1
 * @param excluded
 *   features with nonzeros that are not solved for, ascending: constant ones, and those whose variance underflows to 0.
 *   Spark treats both as constant too
 */
private[data] final class FeatureMoments(
    val mean: Array[Double],
    val variance: Array[Double],
    val classSums: ClassSums,
    val excluded: Array[Int]) {

  /** The scale of each feature, see [[RowForm]]; null if every one is 1. */
  def scale(scaleFactor: Double, names: ColumnNames): Array[Double] =
    if (scaleFactor == 0.0 && excluded.isEmpty) null
    else {
      Array.tabulate(variance.length) { j =>
        val scale =
          if (variance(j) == 0.0) 0.0
          else if (scaleFactor == 0.0) 1.0
          else 1.0 / (scaleFactor * variance(j))
        if (scale.isInfinite) {
          throw new IllegalArgumentException(
            s"${names.ofFeature(j)}: the values are so close to one another that the inverse of their " +
              "variance is not a finite number. Scale the feature up, for example with StandardScaler.")
        }
        scale
      }
    }
}

private[data] object FeatureMoments {

  /**
   * Computes the moments. Every block computes the moments of its columns in two passes, and its source partition merges them.
   * Tasks merge the moments of all partitions by ranges of columns, so that neither a worker nor the driver holds them.
   *
   * @throws IllegalArgumentException
   *   if a variance overflows
   */
  def of(rows: ReadRows): FeatureMoments = {
    val numFeatures = rows.numFeatures
    val numRows = rows.numRows
    val totalWeight = rows.totalWeight
    val binary = rows.hasBinaryLabels
    val ranges = new IndexRanges(numFeatures, rows.sourcePartitions)
    val pieces = rows.verifiedBlocks.mapPartitions { blocks =>
      val piece = ofBlocks(blocks, numFeatures, binary)
      ranges.cut(piece.columns)(piece.slice)
    }
    val mergedRanges = Shuffle.inOrder(pieces, ranges.count).mapPartitionsWithIndex { (k, pieces) =>
      val merged = new MergedMoments(ranges.first(k), ranges.size(k), pieces, numRows, totalWeight, binary)
      Iterator.single(merged.packed)
    }

    val mean = new Array[Double](numFeatures)
    val variance = new Array[Double](numFeatures)
    val positive = if (binary) new Array[Double](numFeatures) else null
    val negative = if (binary) new Array[Double](numFeatures) else null
    val flat = Array.newBuilder[Int]
    def take(range: PackedMoments): Unit = {
      LittleEndian.copy(range.mean, mean, range.first)
      LittleEndian.copy(range.variance, variance, range.first)
      if (binary) {
        LittleEndian.copy(range.positive, positive, range.first)
        LittleEndian.copy(range.negative, negative, range.first)
      }
      flat ++= range.flat
    }
    Shuffle.once(mergedRanges) {
      TaskFailure.unwrapped(Answers.each(mergedRanges)(_.next())((_, range) => take(range)))
    }
    val excluded = (flat.result() ++ rows.constant).distinct.sorted
    excluded.foreach { j =>
      Seq(mean, variance, positive, negative).filter(_ != null).foreach(_(j) = 0.0)
    }
    val unbounded = variance.indexWhere(v => v.isNaN || v.isInfinite)
    if (unbounded >= 0) {
      throw new IllegalArgumentException(
        s"${rows.names.ofFeature(unbounded)}: the values are so large that their variance is not a " +
          "finite number. Scale the feature down, for example with StandardScaler.")
    }
    new FeatureMoments(mean, variance, if (binary) classSums(rows.labels, positive, negative) else null, excluded)
  }

  private def classSums(labels: LabelMoments, positive: Array[Double], negative: Array[Double]): ClassSums =
    new ClassSums(positive, negative, labels.positiveWeight)

  /** The moments of the columns that have nonzeros in a source partition. */
  private def ofBlocks(blocks: Iterator[RowBlock], numFeatures: Int, binary: Boolean): MomentPiece = {
    val pieces = blocks.map(ofBlock(_, numFeatures, binary))
    val first = pieces.next()
    if (!pieces.hasNext) first
    else {
      val moments = new PartitionMoments(numFeatures, binary)
      moments.add(first)
      pieces.foreach(moments.add)
      moments.result
    }
  }

  /** The moments of the columns that have nonzeros in `block`. */
  def ofBlock(block: RowBlock, numFeatures: Int, binary: Boolean): MomentPiece = {
    val matrix = block.matrix
    val used = ColumnCounts.of(Iterator(matrix), numFeatures)
    val n = used.columns.length
    val position = new Array[Int](numFeatures)
    var c = 0
    while (c < n) {
      position(used.columns(c)) = c
      c += 1
    }
    val weight = new Array[Double](n)
    val mean = new Array[Double](n)
    val squares = new Array[Double](n)
    val positive = if (binary) new Array[Double](n) else null
    val negative = if (binary) new Array[Double](n) else null

    var j = 0
    while (j < matrix.rows) {
      val s = if (block.weights == null) 1.0 else block.weights(j)
      val byClass = if (!binary) null else if (block.labels(j) > 0.0) positive else negative
      matrix.eachNonzero(j) { (column, value) =>
        val c = position(column)
        val product = s * value
        weight(c) += s
        mean(c) += product
        if (byClass != null) byClass(c) += product
      }
      j += 1
    }
    c = 0
    while (c < n) {
      mean(c) /= weight(c)
      c += 1
    }
    j = 0
    while (j < matrix.rows) {
      val s = if (block.weights == null) 1.0 else block.weights(j)
      matrix.eachNonzero(j) { (column, value) =>
        val c = position(column)
        val difference = value - mean(c)
        squares(c) += s * (difference * difference)
      }
      j += 1
    }
    new MomentPiece(used.columns, used.counts.map(_.toLong), weight, mean, squares, positive, negative)
  }
}
