package dwell.data.columns

import dwell.base.SliceBounds
import dwell.data.block.{ColumnNames, RowBlock}
import dwell.data.matrix.{DenseBlock, NarrowValues, SparseBlock}

/**
 * The nonzeros, labels and weights of one row block that go to one partition of columns.
 *
 * @param block
 *   index of the row block; pieces are merged in this order
 * @param columns
 *   feature indices, ascending
 * @param counts
 *   number of nonzeros of each of these columns in the block
 * @param rows
 *   row number of each nonzero in the whole dataset; column after column, ascending within a column
 * @param values
 *   value of each nonzero
 * @param rowValues
 *   labels and weights
 */
private[data] final class ColumnPiece(
    val block: Int,
    val columns: Array[Int],
    val counts: Array[Int],
    val rows: Array[Int],
    val values: NarrowValues,
    val rowValues: RowValues)
    extends Serializable

/** Turns rows into columns: cuts blocks into pieces before the shuffle, merges the pieces after it. */
private[data] object Transposition {

  /**
   * Cuts a block into at most one piece for each partition, by a counting sort over its columns.
   *
   * @param firstRow
   *   number of the block's first row in the whole dataset
   * @param partitionOf
   *   partition of each column, or -1 if the column is left out
   * @param slices
   *   the rows whose labels each partition gets
   */
  def cut(rows: RowBlock, firstRow: Int, partitionOf: Array[Int], slices: SliceBounds): Iterator[(Int, ColumnPiece)] = {
    val block = rows.matrix
    val numPartitions = slices.count
    val counts = block.denseCounts(partitionOf.length)

    val columnsOf = new Array[Int](numPartitions)
    val nonzerosOf = new Array[Int](numPartitions)
    var column = 0
    while (column < counts.length) {
      val partition = partitionOf(column)
      if (counts(column) > 0 && partition >= 0) {
        columnsOf(partition) += 1
        nonzerosOf(partition) += counts(column)
      }
      column += 1
    }

    val width = block.values.width
    val pieces = Array.tabulate(numPartitions) { k =>
      new ColumnPiece(
        block.index,
        new Array[Int](columnsOf(k)),
        new Array[Int](columnsOf(k)),
        new Array[Int](nonzerosOf(k)),
        NarrowValues.allocate(width, nonzerosOf(k)),
        RowValues.of(rows, firstRow, slices, k))
    }

    // From here on counts(column) is the position of the column's next nonzero in its piece.
    java.util.Arrays.fill(columnsOf, 0)
    java.util.Arrays.fill(nonzerosOf, 0)
    column = 0
    while (column < counts.length) {
      val partition = partitionOf(column)
      if (counts(column) > 0 && partition >= 0) {
        val piece = pieces(partition)
        piece.columns(columnsOf(partition)) = column
        piece.counts(columnsOf(partition)) = counts(column)
        columnsOf(partition) += 1
        val start = nonzerosOf(partition)
        nonzerosOf(partition) += counts(column)
        counts(column) = start
      }
      column += 1
    }

    block match {
      case sparse: SparseBlock => distribute(sparse, firstRow, partitionOf, pieces, counts)
      case dense: DenseBlock => distribute(dense, firstRow, partitionOf, pieces, counts)
    }
    pieces.iterator.zipWithIndex.collect {
      case (piece, k) if piece.columns.length > 0 || !piece.rowValues.isEmpty => (k, piece)
    }
  }

  /** Copies the nonzeros to their pieces; `next` is the position of each column's next nonzero. */
  private def distribute(
      block: SparseBlock,
      firstRow: Int,
      partitionOf: Array[Int],
      pieces: Array[ColumnPiece],
      next: Array[Int]): Unit = {
    val offsets = block.offsets
    val indices = block.indices
    val values32 = block.values.values32
    val values64 = block.values.values64
    val numRows = block.rows
    var j = 0
    var at = 0
    while (j < numRows) {
      val end = offsets(j + 1)
      while (at < end) {
        val feature = indices(at)
        val partition = partitionOf(feature)
        if (partition >= 0) {
          val piece = pieces(partition)
          val target = next(feature)
          next(feature) = target + 1
          piece.rows(target) = firstRow + j
          if (values64 != null) piece.values.values64(target) = values64(at)
          else if (values32 != null) piece.values.values32(target) = values32(at)
        }
        at += 1
      }
      j += 1
    }
  }

  private def distribute(
      block: DenseBlock,
      firstRow: Int,
      partitionOf: Array[Int],
      pieces: Array[ColumnPiece],
      next: Array[Int]): Unit = {
    // Several rows at a time, so that neither their values nor the ends of their columns leave the cache.
    val numRows = block.rows
    val columns = block.columns
    var from = 0
    while (from < numRows) {
      val until = math.min(numRows, from + RowsAtATime)
      var column = 0
      while (column < columns) {
        val partition = partitionOf(column)
        if (partition >= 0) {
          val piece = pieces(partition)
          next(column) = copyColumn(block, column, from, until, firstRow, piece, next(column))
        }
        column += 1
      }
      from = until
    }
  }

  /** Copies the nonzeros of one column in the rows `from` until `until`; the position after the last one. */
  private def copyColumn(
      block: DenseBlock,
      column: Int,
      from: Int,
      until: Int,
      firstRow: Int,
      piece: ColumnPiece,
      position: Int): Int = {
    val columns = block.columns
    val values32 = block.values.values32
    val values64 = block.values.values64
    var target = position
    var j = from
    var at = from * columns + column
    while (j < until) {
      val value = if (values64 != null) values64(at) else values32(at).toDouble
      if (value != 0.0) {
        piece.rows(target) = firstRow + j
        if (values64 != null) piece.values.values64(target) = value
        else piece.values.values32(target) = value.toFloat
        target += 1
      }
      j += 1
      at += columns
    }
    target
  }

  /** 28 columns of doubles then take 7 kB. */
  private val RowsAtATime = 32

  /**
   * Merges the pieces of one partition.
   *
   * @param slices
   *   the rows whose labels each partition gets
   * @param totalWeight
   *   sum of the weights
   * @throws IllegalArgumentException
   *   if a variance overflows
   */
  def merge(
      index: Int,
      pieces: Array[ColumnPiece],
      slices: SliceBounds,
      totalWeight: Double,
      names: ColumnNames): ColumnPartition = {
    // The shuffle delivers pieces in any order; block order makes rows ascend and sums reproducible.
    val ordered = pieces.sortBy(_.block)
    val numRows = slices.length
    val weights = RowValues.weights(ordered.map(_.rowValues), numRows)
    val features = distinct(ordered)
    val moments = new Moments(features, numRows, weights, totalWeight, names)
    ordered.foreach(eachColumn(_, features)(moments.addToMean))
    moments.finishMean()
    ordered.foreach(eachColumn(_, features)(moments.addToVariance))
    moments.finishVariance()

    // Constant columns never get here. Columns whose variance underflows to 0 are left out; Spark treats them as
    // constant.
    val order = moments.inLocalOrder
    val n = order.length
    val offsets = new Array[Int](n + 1)
    val next = Array.fill(features.length)(-1)
    var width = NarrowValues.Ones
    var i = 0
    while (i < n) {
      val c = order(i)
      next(c) = offsets(i)
      offsets(i + 1) = offsets(i) + moments.counts(c)
      if (moments.widths(c) > width) width = moments.widths(c)
      i += 1
    }

    val indices = new Array[Int](offsets(n))
    val values = NarrowValues.allocate(width, offsets(n))
    ordered.foreach { piece =>
      eachColumn(piece, features) { (c, from, until, piece) =>
        if (next(c) >= 0) {
          val target = next(c)
          System.arraycopy(piece.rows, from, indices, target, until - from)
          piece.values.copyTo(from, until, values, target)
          next(c) = target + until - from
        }
      }
    }

    val variance = gather(moments.variance, order)
    new ColumnPartition(
      index,
      numRows,
      gather(features, order),
      offsets,
      indices,
      values.values32,
      values.values64,
      gather(moments.mean, order),
      variance,
      Array.tabulate(n)(i => math.sqrt(variance(i))),
      weights,
      RowValues.labels(ordered.map(_.rowValues), slices, index))
  }

  private def gather(from: Array[Int], order: Array[Int]): Array[Int] =
    Array.tabulate(order.length)(i => from(order(i)))

  private def gather(from: Array[Double], order: Array[Int]): Array[Double] =
    Array.tabulate(order.length)(i => from(order(i)))

  /** The feature indices that occur in any piece, ascending. */
  private def distinct(pieces: Array[ColumnPiece]): Array[Int] = {
    val all = new Array[Int](pieces.map(_.columns.length).sum)
    var end = 0
    pieces.foreach { piece =>
      System.arraycopy(piece.columns, 0, all, end, piece.columns.length)
      end += piece.columns.length
    }
    java.util.Arrays.sort(all)
    var kept = 0
    var i = 0
    while (i < all.length) {
      if (i == 0 || all(i) != all(i - 1)) {
        all(kept) = all(i)
        kept += 1
      }
      i += 1
    }
    java.util.Arrays.copyOf(all, kept)
  }

  @FunctionalInterface
  private trait ColumnVisitor {

    /** Visits column `c` (a position in the list of features), with nonzeros `from` until `until` of `piece`. */
    def visit(c: Int, from: Int, until: Int, piece: ColumnPiece): Unit
  }

  private def eachColumn(piece: ColumnPiece, features: Array[Int])(visitor: ColumnVisitor): Unit = {
    var c = 0
    var from = 0
    var i = 0
    while (i < piece.columns.length) {
      while (features(c) < piece.columns(i)) c += 1
      visitor.visit(c, from, from + piece.counts(i), piece)
      from += piece.counts(i)
      i += 1
    }
  }

  /** Computes the mean and the variance of each column, in two passes. Rows without a nonzero count as zeros. */
  private final class Moments(
      features: Array[Int],
      numRows: Int,
      weights: Array[Double],
      totalWeight: Double,
      names: ColumnNames) {
    val counts = new Array[Int](features.length)
    val widths = new Array[Byte](features.length)
    val mean = new Array[Double](features.length)
    val variance = new Array[Double](features.length)
    private val nonzeroWeight = new Array[Double](features.length)

    def addToMean(c: Int, from: Int, until: Int, piece: ColumnPiece): Unit = {
      counts(c) += until - from
      var sum = mean(c)
      var sumOfWeights = nonzeroWeight(c)
      var width = widths(c)
      var at = from
      while (at < until) {
        val value = piece.values(at)
        val weight = if (weights == null) 1.0 else weights(piece.rows(at))
        sum += weight * value
        sumOfWeights += weight
        val w = NarrowValues.width(value)
        if (w > width) width = w
        at += 1
      }
      mean(c) = sum
      nonzeroWeight(c) = sumOfWeights
      widths(c) = width
    }

    def finishMean(): Unit = {
      var c = 0
      while (c < features.length) {
        mean(c) /= totalWeight
        c += 1
      }
    }

    def addToVariance(c: Int, from: Int, until: Int, piece: ColumnPiece): Unit = {
      val centre = mean(c)
      var sum = variance(c)
      var at = from
      while (at < until) {
        val difference = piece.values(at) - centre
        val weight = if (weights == null) 1.0 else weights(piece.rows(at))
        sum += weight * (difference * difference)
        at += 1
      }
      variance(c) = sum
    }

    def finishVariance(): Unit = {
      var c = 0
      while (c < features.length) {
        // If every row has a nonzero, the difference of the sums is a rounding error, which a large mean would blow up.
        val zeroWeight = if (counts(c) == numRows) 0.0 else math.max(0.0, totalWeight - nonzeroWeight(c))
        variance(c) = (variance(c) + zeroWeight * (mean(c) * mean(c))) / totalWeight
        if (variance(c).isNaN || variance(c).isInfinite) {
          throw new IllegalArgumentException(
            s"Column '${names.features}', index ${features(c)}: the values are so large that their variance is not a " +
              "finite number. Scale the feature down, for example with StandardScaler.")
        }
        c += 1
      }
    }

    /** The positions of the columns that vary, by min(count, 9), then by feature index. */
    def inLocalOrder: Array[Int] = {
      val keys = new Array[Long](features.length)
      var kept = 0
      var c = 0
      while (c < features.length) {
        if (variance(c) > 0.0) {
          keys(kept) = (math.min(counts(c), 9).toLong << 32) | c
          kept += 1
        }
        c += 1
      }
      java.util.Arrays.sort(keys, 0, kept)
      Array.tabulate(kept)(i => keys(i).toInt)
    }
  }
}
