package dwell.data.matrix

/**
 * The number of nonzeros of each column that has any, and the narrowest width that holds them, in ascending order of the
 * columns. Sparse, because a partition of hashed text uses only a few of all columns.
 */
private[data] final class ColumnCounts(val columns: Array[Int], val counts: Array[Int], val widths: Array[Byte]) {

  /** Counts and widths as sums, whose totals over all partitions [[ColumnCounts.ofSums]] takes apart. */
  def sums(numFeatures: Int): IndexedSums = {
    val wide = columns.indices.filter(widths(_) > NarrowValues.Ones).toArray
    new IndexedSums(
      columns ++ wide.map(numFeatures + columns(_)),
      counts.map(_.toDouble) ++ wide.map(i => if (widths(i) == NarrowValues.Double) ColumnCounts.Doubles else 1.0))
  }
}

private[data] object ColumnCounts {

  /** The counts and widths of the columns of all blocks; column indices are below `numFeatures`. */
  def of(blocks: Iterator[MatrixBlock], numFeatures: Int): ColumnCounts = {
    val allCounts = new Array[Int](numFeatures)
    val allWidths = new Array[Byte](numFeatures)
    blocks.foreach { block =>
      block.countInto(allCounts, 0, block.rows)
      block.widen(allWidths)
    }
    val columns = new Array[Int](allCounts.count(_ > 0))
    var (next, column) = (0, 0)
    while (next < columns.length) {
      if (allCounts(column) > 0) {
        columns(next) = column
        next += 1
      }
      column += 1
    }
    new ColumnCounts(columns, columns.map(allCounts(_)), columns.map(allWidths(_)))
  }

  /** Outweighs as many partitions as there can be whose values of a column are single. */
  private val Doubles = (1L << 32).toDouble

  /** The length of the sums. */
  def sumsOf(numFeatures: Int): Int = Math.multiplyExact(2, numFeatures)

  /** The counts and widths of all columns, from the totals of [[ColumnCounts.sums]]. */
  def ofSums(totals: Array[Double]): (Array[Int], Array[Byte]) = {
    val n = totals.length / 2
    val counts = new Array[Int](n)
    val widths = new Array[Byte](n)
    var j = 0
    while (j < n) {
      val wide = totals(n + j)
      counts(j) = totals(j).toInt
      widths(j) =
        if (wide >= Doubles) NarrowValues.Double else if (wide > 0.0) NarrowValues.Single else NarrowValues.Ones
      j += 1
    }
    (counts, widths)
  }
}
