package dwell.data.rows

import dwell.base.{Answers, LittleEndian, Shuffle, TaskFailure}
import dwell.data.block.{ReadRows, RowBlock}

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
    val excluded: Array[Int])

private[data] object FeatureMoments {

  /**
   * Computes the moments. Every block computes those of its columns in two passes. Tasks merge them by ranges of
   * columns, so that neither a worker nor the driver holds the moments of all blocks.
   *
   * @throws IllegalArgumentException
   *   if a variance overflows
   */
  def of(rows: ReadRows): FeatureMoments = {
    val numFeatures = rows.numFeatures
    val numRows = rows.numRows
    val totalWeight = rows.totalWeight
    val binary = rows.hasBinaryLabels
    val numRanges = math.max(1, math.min(rows.numBlocks, numFeatures / ColumnsWorthARange))
    val width = numFeatures / numRanges + 1
    val pieces = rows.verifiedBlocks.flatMap(block => cut(ofBlock(block, numFeatures, binary), width))
    val ranges = Shuffle.byIndex(pieces, numRanges).mapPartitionsWithIndex { (k, it) =>
      val first = math.min(k.toLong * width, numFeatures.toLong).toInt
      val length = math.min(width, numFeatures - first)
      Iterator.single(new MergedMoments(first, length, it.map(_._2).toArray, numRows, totalWeight, binary).packed)
    }

    val mean = new Array[Double](numFeatures)
    val variance = new Array[Double](numFeatures)
    val positive = if (binary) new Array[Double](numFeatures) else null
    val negative = if (binary) new Array[Double](numFeatures) else null
    val flat = Array.newBuilder[Int]
    val merged = Shuffle.once(ranges) {
      TaskFailure.unwrapped(Answers.of(ranges)(_.next()))
    }
    merged.foreach { range =>
      LittleEndian.copy(range.mean, mean, range.first)
      LittleEndian.copy(range.variance, variance, range.first)
      if (binary) {
        LittleEndian.copy(range.positive, positive, range.first)
        LittleEndian.copy(range.negative, negative, range.first)
      }
      flat ++= range.flat
    }
    val excluded = (flat.result() ++ rows.constant.indices).distinct.sorted
    excluded.foreach { j =>
      Seq(mean, variance, positive, negative).filter(_ != null).foreach(_(j) = 0.0)
    }
    val unbounded = variance.indexWhere(v => v.isNaN || v.isInfinite)
    if (unbounded >= 0) {
      throw new IllegalArgumentException(
        s"Column '${rows.names.features}', index $unbounded: the values are so large that their variance is not a " +
          "finite number. Scale the feature down, for example with StandardScaler.")
    }
    new FeatureMoments(mean, variance, if (binary) classSums(rows, positive, negative) else null, excluded)
  }

  private def classSums(rows: ReadRows, positive: Array[Double], negative: Array[Double]): ClassSums = {
    var positiveWeight = 0.0
    var negativeWeight = 0.0
    var i = 0
    while (i < rows.numRows) {
      val weight = if (rows.weights == null) 1.0 else rows.weights(i)
      if (rows.labels(i) > 0.0) positiveWeight += weight else negativeWeight += weight
      i += 1
    }
    new ClassSums(positive, negative, positiveWeight, negativeWeight)
  }

  /** The least number of columns that are worth a task of their own. */
  private val ColumnsWorthARange = 4096

  /** The moments of the columns that have nonzeros in `block`. */
  def ofBlock(block: RowBlock, numFeatures: Int, binary: Boolean): MomentPiece = {
    val matrix = block.matrix
    val used = matrix.columnCounts(numFeatures)
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
    new MomentPiece(block.index, used.columns, used.counts, weight, mean, squares, positive, negative)
  }

  /** Cuts the moments into ranges of `width` columns; gives each with the number of its range. */
  def cut(piece: MomentPiece, width: Int): Iterator[(Int, MomentPiece)] = {
    val n = piece.columns.length
    Iterator.unfold(0) { from =>
      if (from == n) None
      else {
        val range = piece.columns(from) / width
        var until = from + 1
        while (until < n && piece.columns(until) / width == range) until += 1
        Some(((range, piece.slice(from, until)), until))
      }
    }
  }
}
