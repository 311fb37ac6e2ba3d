package dwell.data.columns

import dwell.base.SliceBounds
import dwell.data.block.ColumnNames
import dwell.data.matrix.{NarrowValues, PartitionForm}

/**
 * Puts the pieces of one partition together, one by one and in any order. Beside the partition itself it needs room for
 * one piece, and for one column.
 *
 * @param slices
 *   the rows whose labels each partition gets
 * @param partitionOf
 *   partition of each column, or -1 if the column is left out
 * @param counts
 *   number of nonzeros of each column in the whole dataset
 */
private[data] final class ColumnMerge(
    index: Int,
    slices: SliceBounds,
    partitionOf: Array[Int],
    counts: Array[Int],
    form: PartitionForm) {

  /** Number of rows of the whole dataset. */
  private val numRows = slices.start(slices.count)

  /** Features of the partition, ascending. */
  private val features = {
    val features = new Array[Int](partitionOf.count(_ == index))
    var next = 0
    var feature = 0
    while (feature < partitionOf.length) {
      if (partitionOf(feature) == index) {
        features(next) = feature
        next += 1
      }
      feature += 1
    }
    features
  }

  /** Number of values that the column of a feature stores. */
  private def stored(feature: Int): Int = if (form.isDense) numRows else counts(feature)

  /** Positions in `features` of the local columns, which are in order of min(length, 9), then of features. */
  private val order = {
    val keys = Array.tabulate(features.length)(c => (math.min(stored(features(c)), 9).toLong << 32) | c)
    java.util.Arrays.sort(keys)
    keys.map(_.toInt)
  }

  private val offsets = {
    val offsets = new Array[Int](features.length + 1)
    var i = 0
    while (i < features.length) {
      offsets(i + 1) = offsets(i) + stored(features(order(i)))
      i += 1
    }
    offsets
  }
  private val indices = if (form.isDense) null else new Array[Int](offsets.last)
  private val values = NarrowValues.allocate(form.width, offsets.last)

  /** For each position in `features`: position of the column's first value if it is dense, of its next one otherwise. */
  private val next = {
    val next = new Array[Int](features.length)
    order.indices.foreach(i => next(order(i)) = offsets(i))
    next
  }

  def add(piece: ColumnPiece): Unit = piece match {
    case sparse: SparseColumnPiece => add(sparse)
    case dense: DenseColumnPiece => add(dense)
  }

  private def add(piece: SparseColumnPiece): Unit = {
    var from = 0
    eachColumn(piece) { (i, c) =>
      val until = from + piece.counts(i)
      if (form.isDense) {
        while (from < until) {
          values.copyOne(piece.values, from, next(c) + piece.rows(from))
          from += 1
        }
      } else {
        System.arraycopy(piece.rows, from, indices, next(c), until - from)
        piece.values.copyTo(from, until, values, next(c))
        next(c) += until - from
        from = until
      }
    }
  }

  private def add(piece: DenseColumnPiece): Unit = eachColumn(piece) { (i, c) =>
    val from = i * piece.rows
    if (form.isDense) piece.values.copyTo(from, from + piece.rows, values, next(c) + piece.firstRow)
    else {
      var j = 0
      while (j < piece.rows) {
        if (piece.values(from + j) != 0.0) {
          indices(next(c)) = piece.firstRow + j
          values.copyOne(piece.values, from + j, next(c))
          next(c) += 1
        }
        j += 1
      }
    }
  }

  /** Calls `use` with the position of each column in the piece, and in `features`. */
  private def eachColumn(piece: ColumnPiece)(use: (Int, Int) => Unit): Unit = {
    var c = 0
    var i = 0
    while (i < piece.columns.length) {
      while (features(c) < piece.columns(i)) c += 1
      use(i, c)
      i += 1
    }
  }

  /**
   * The partition, after the last piece.
   *
   * @param rowValues
   *   labels and weights, from all blocks that have any for the partition
   * @param totalWeight
   *   sum of the weights
   * @throws IllegalArgumentException
   *   if a variance overflows
   */
  def result(rowValues: Array[RowValues], totalWeight: Double, names: ColumnNames): ColumnPartition = {
    val weights = RowValues.weights(rowValues, numRows)
    if (!form.isDense) {
      val byRow = new ByRow(indices, values)
      order.indices.foreach(i => byRow.sort(offsets(i), offsets(i + 1)))
    }
    val columns = order.map(features(_))
    val n = columns.length
    val moments = new ColumnMoments(numRows, weights, totalWeight)
    val (mean, variance) = (new Array[Double](n), new Array[Double](n))
    var i = 0
    while (i < n) {
      mean(i) = moments.mean(indices, values, offsets(i), offsets(i + 1))
      variance(i) = moments.variance(indices, values, offsets(i), offsets(i + 1), mean(i))
      if (variance(i).isNaN || variance(i).isInfinite) {
        throw new IllegalArgumentException(
          s"${names.ofFeature(columns(i))}: the values are so large that their variance is not a " +
            "finite number. Scale the feature down, for example with StandardScaler.")
      }
      i += 1
    }
    val all = new ColumnPartition(
      index,
      numRows,
      columns,
      offsets,
      indices,
      values.values32,
      values.values64,
      mean,
      variance,
      variance.map(math.sqrt),
      weights,
      RowValues.labels(rowValues, slices, index))
    // Constant columns never get here. Columns whose variance underflows to 0 are left out; Spark treats them as
    // constant.
    if (variance.forall(_ > 0.0)) all else all.only(Array.range(0, n).filter(variance(_) > 0.0))
  }
}
