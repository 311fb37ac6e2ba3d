package dwell.data.columns

import dwell.base.SliceBounds
import dwell.data.matrix.{DenseBlock, MatrixBlock, NarrowValues, PartitionForm}

/**
 * Makes the columns of one partition from blocks of rows, which come in the order of their rows, one by one.
 *
 * @param slices
 *   the rows whose labels each partition gets
 * @param partitionOf
 *   partition of each column, or -1 if the column is left out
 * @param facts
 *   of all columns of the dataset
 * @param projected
 *   whether the blocks come from a [[Projection]]; otherwise they have all features
 */
private[data] final class Transposition(
    index: Int,
    slices: SliceBounds,
    partitionOf: Array[Int],
    facts: ColumnFacts,
    form: PartitionForm,
    projected: Boolean) {

  /** Number of rows of the whole dataset. */
  private val numRows = slices.start(slices.count)

  /** Features of the partition, ascending. */
  private val features = ColumnAssignment.columns(partitionOf, index)

  /** Number of values that the column of a feature stores. */
  private def stored(feature: Int): Int = if (form.isDense) numRows else facts.counts(feature)

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

  /**
   * For each column of a block: position of its first value if the partition is dense, of its next one otherwise; -1 if it is left out.
   */
  private val next = {
    val next = Array.fill(if (projected) features.length else partitionOf.length)(-1)
    order.indices.foreach(i => next(if (projected) order(i) else features(order(i))) = offsets(i))
    next
  }

  private val labels = new Array[Double](slices.size(index))
  private var labelled = 0
  private var weights: Array[Double] = _

  def add(block: ColumnBlock): Unit = {
    block.matrix match {
      case dense: DenseBlock if form.isDense => copyColumns(dense, block.firstRow)
      case matrix => scatter(matrix, block.firstRow)
    }
    System.arraycopy(block.labels, 0, labels, labelled, block.labels.length)
    labelled += block.labels.length
    if (block.weights != null) {
      if (weights == null) weights = Array.fill(numRows)(1.0)
      System.arraycopy(block.weights, 0, weights, block.firstRow, block.weights.length)
    }
  }

  private def scatter(block: MatrixBlock, firstRow: Int): Unit = {
    var j = 0
    while (j < block.rows) {
      val row = firstRow + j
      block.eachNonzero(j) { (column, value) =>
        val at = next(column)
        if (at >= 0) {
          if (indices == null) values(at + row) = value
          else {
            indices(at) = row
            values(at) = value
            next(column) = at + 1
          }
        }
      }
      j += 1
    }
  }

  /** Several rows at a time, so that neither their values nor the ends of their columns leave the cache. */
  private def copyColumns(block: DenseBlock, firstRow: Int): Unit =
    for (first <- 0 until block.rows by Transposition.RowsAtATime) {
      val count = math.min(Transposition.RowsAtATime, block.rows - first)
      var column = 0
      while (column < block.columns) {
        val to = next(column)
        if (to >= 0)
          values.copyStrided(block.values, block.start(first) + column, block.columns, to + firstRow + first, count)
        column += 1
      }
    }

  /** The partition, after the last block. */
  def result: ColumnPartition = {
    val columns = order.map(features(_))
    val variance = columns.map(facts.variance(_))
    new ColumnPartition(
      index,
      numRows,
      columns,
      offsets,
      indices,
      values.values32,
      values.values64,
      columns.map(facts.mean(_)),
      variance,
      variance.map(math.sqrt),
      weights,
      labels)
  }
}

private object Transposition {

  /** 28 columns of doubles then take 7 kB. */
  private val RowsAtATime = 32
}
