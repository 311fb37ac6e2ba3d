package dwell.data.matrix

/**
 * The number of nonzeros of each column that has any, and the narrowest width that holds them, in ascending order of the
 * columns. Sparse, because a partition of hashed text uses only a few of all columns.
 */
private[data] final class ColumnCounts(val columns: Array[Int], val counts: Array[Int], val widths: Array[Byte])
    extends Serializable {

  /** The counts of both together. */
  def +(that: ColumnCounts): ColumnCounts = {
    val sumColumns = new Array[Int](columns.length + that.columns.length)
    val sumCounts = new Array[Int](sumColumns.length)
    val sumWidths = new Array[Byte](sumColumns.length)
    var i = 0
    var j = 0
    var next = 0
    while (i < columns.length || j < that.columns.length) {
      val left = if (i < columns.length) columns(i) else Int.MaxValue
      val right = if (j < that.columns.length) that.columns(j) else Int.MaxValue
      sumColumns(next) = math.min(left, right)
      if (left <= right) {
        sumCounts(next) = counts(i)
        sumWidths(next) = widths(i)
        i += 1
      }
      if (right <= left) {
        sumCounts(next) += that.counts(j)
        if (that.widths(j) > sumWidths(next)) sumWidths(next) = that.widths(j)
        j += 1
      }
      next += 1
    }
    new ColumnCounts(
      java.util.Arrays.copyOf(sumColumns, next),
      java.util.Arrays.copyOf(sumCounts, next),
      java.util.Arrays.copyOf(sumWidths, next))
  }

  /** The counts of all `numFeatures` columns. */
  def toDense(numFeatures: Int): Array[Int] = {
    val dense = new Array[Int](numFeatures)
    var i = 0
    while (i < columns.length) {
      dense(columns(i)) = counts(i)
      i += 1
    }
    dense
  }

  /** The widths of all `numFeatures` columns. */
  def denseWidths(numFeatures: Int): Array[Byte] = {
    val dense = new Array[Byte](numFeatures)
    var i = 0
    while (i < columns.length) {
      dense(columns(i)) = widths(i)
      i += 1
    }
    dense
  }
}
