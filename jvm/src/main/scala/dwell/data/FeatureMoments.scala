package dwell.data

/**
 * Weighted moments of each feature over all rows, implicit zeros included. Features that are not solved for have 0 in
 * every array.
 *
 * @param mean
 *   weighted mean
 * @param variance
 *   weighted population variance; positive for the features that are solved for
 * @param classSums
 *   sums by class, or null where the labels are not all 0 or 1
 * @param excluded
 *   features with nonzeros that are not solved for, ascending: those that are constant, and those whose variance is
 *   lost to underflow, which is as good as constant to Spark as well
 */
private[data] final class FeatureMoments(
    val mean: Array[Double],
    val variance: Array[Double],
    val classSums: ClassSums,
    val excluded: Array[Int])

/**
 * Weighted sums of the features by class: sum of s_i x_ij over the rows i of the class, one entry for each feature j; 0
 * for features that are not solved for.
 *
 * @param positive
 *   over the rows of label 1
 * @param negative
 *   over the rows of label 0 (-1 where labels are signed)
 * @param positiveWeight
 *   sum of the weights of the rows of label 1
 * @param negativeWeight
 *   sum of the weights of the rows of label 0
 */
final class ClassSums private[data] (
    val positive: Array[Double],
    val negative: Array[Double],
    val positiveWeight: Double,
    val negativeWeight: Double)
    extends Serializable

/**
 * Moments of the nonzeros of some columns in one block. Moments of blocks are merged in block order, so that sums have
 * the same bits in every run.
 *
 * @param block
 *   index of the row block
 * @param columns
 *   feature indices, ascending
 * @param counts
 *   nonzeros of each column
 * @param weight
 *   sum of the weights of the nonzeros
 * @param mean
 *   weighted mean of the nonzeros
 * @param squares
 *   weighted sum of the squared differences from that mean
 * @param positive
 *   weighted sum of the nonzeros in rows of label 1, or null where the labels are no classes
 * @param negative
 *   the same of the other rows
 */
private[data] final class MomentPiece(
    val block: Int,
    val columns: Array[Int],
    val counts: Array[Int],
    val weight: Array[Double],
    val mean: Array[Double],
    val squares: Array[Double],
    val positive: Array[Double],
    val negative: Array[Double])
    extends Serializable {

  def slice(from: Int, until: Int): MomentPiece = {
    def part(array: Array[Double]): Array[Double] =
      if (array == null) null else java.util.Arrays.copyOfRange(array, from, until)
    new MomentPiece(
      block,
      java.util.Arrays.copyOfRange(columns, from, until),
      java.util.Arrays.copyOfRange(counts, from, until),
      part(weight),
      part(mean),
      part(squares),
      part(positive),
      part(negative))
  }
}

private[data] object FeatureMoments {

  /**
   * Every block computes the moments of its columns in two passes; these are merged by ranges of columns, so that
   * neither a worker nor the driver holds those of all blocks.
   */
  def of(rows: TrainingRows): FeatureMoments = {
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
      TaskFailure.unwrapped(rows.sc.runJob(ranges, (it: Iterator[PackedMoments]) => it.next()))
    }
    merged.foreach { range =>
      DoubleBytes.unpack(range.mean, mean, range.first)
      DoubleBytes.unpack(range.variance, variance, range.first)
      if (binary) {
        DoubleBytes.unpack(range.positive, positive, range.first)
        DoubleBytes.unpack(range.negative, negative, range.first)
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

  private def classSums(rows: TrainingRows, positive: Array[Double], negative: Array[Double]): ClassSums = {
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

  /** Fewer columns than that are merged by one task. */
  private val ColumnsWorthARange = 4096

  /** Moments of the columns that have nonzeros in `block`. */
  def ofBlock(block: RowBlock, numFeatures: Int, binary: Boolean): MomentPiece = {
    val used = block.columnCounts(numFeatures)
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
    while (j < block.rows) {
      val s = if (block.weights == null) 1.0 else block.weights(j)
      val byClass = if (!binary) null else if (block.labels(j) > 0.0) positive else negative
      var at = block.offsets(j)
      while (at < block.offsets(j + 1)) {
        c = position(block.indices(at))
        val product = s * block.values(at)
        weight(c) += s
        mean(c) += product
        if (byClass != null) byClass(c) += product
        at += 1
      }
      j += 1
    }
    c = 0
    while (c < n) {
      mean(c) /= weight(c)
      c += 1
    }
    j = 0
    while (j < block.rows) {
      val s = if (block.weights == null) 1.0 else block.weights(j)
      var at = block.offsets(j)
      while (at < block.offsets(j + 1)) {
        c = position(block.indices(at))
        val difference = block.values(at) - mean(c)
        squares(c) += s * (difference * difference)
        at += 1
      }
      j += 1
    }
    new MomentPiece(block.index, used.columns, used.counts, weight, mean, squares, positive, negative)
  }

  /** The moments by ranges of `width` columns. */
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

/** Moments of a range of columns on their way to the driver; little-endian doubles. */
private final class PackedMoments(
    val first: Int,
    val mean: Array[Byte],
    val variance: Array[Byte],
    val positive: Array[Byte],
    val negative: Array[Byte],
    val flat: Array[Int])
    extends Serializable

/** Merges the blocks' moments of the columns `first` until `first + length`. */
private final class MergedMoments(
    first: Int,
    length: Int,
    pieces: Array[MomentPiece],
    numRows: Int,
    totalWeight: Double,
    binary: Boolean) {
  private val counts = new Array[Int](length)
  private val weight = new Array[Double](length)
  private val mean = new Array[Double](length)
  private val squares = new Array[Double](length)
  private val positive = new Array[Double](if (binary) length else 0)
  private val negative = new Array[Double](if (binary) length else 0)
  private val flat = Array.newBuilder[Int]

  // The shuffle delivers pieces in any order.
  pieces.sortBy(_.block).foreach(add)
  addZeros()

  def packed: PackedMoments =
    new PackedMoments(
      first,
      DoubleBytes.pack(mean),
      DoubleBytes.pack(squares),
      DoubleBytes.pack(positive),
      DoubleBytes.pack(negative),
      flat.result())

  /** Chan, Golub and LeVeque: the moments of a union from those of its parts. */
  private def add(piece: MomentPiece): Unit = {
    var i = 0
    while (i < piece.columns.length) {
      val c = piece.columns(i) - first
      if (counts(c) == 0) {
        weight(c) = piece.weight(i)
        mean(c) = piece.mean(i)
        squares(c) = piece.squares(i)
      } else {
        val sum = weight(c) + piece.weight(i)
        val share = piece.weight(i) / sum
        val difference = piece.mean(i) - mean(c)
        squares(c) += piece.squares(i) + (difference * difference) * (weight(c) * share)
        mean(c) += difference * share
        weight(c) = sum
      }
      counts(c) += piece.counts(i)
      if (binary) {
        positive(c) += piece.positive(i)
        negative(c) += piece.negative(i)
      }
      i += 1
    }
  }

  /** Implicit zeros are one more part; from here on `squares` is the variance. */
  private def addZeros(): Unit = {
    var c = 0
    while (c < length) {
      if (counts(c) > 0) {
        // Where every row has a nonzero the difference of the sums is rounding error, which a large mean would blow up.
        val zeroWeight = if (counts(c) == numRows) 0.0 else math.max(0.0, totalWeight - weight(c))
        if (zeroWeight > 0.0) {
          val share = zeroWeight / (weight(c) + zeroWeight)
          squares(c) += (mean(c) * mean(c)) * (weight(c) * share)
          mean(c) -= mean(c) * share
        }
        squares(c) /= totalWeight
        if (squares(c) == 0.0) flat += first + c
      }
      c += 1
    }
  }
}
