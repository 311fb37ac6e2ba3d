package dwell.data.columns

import dwell.data.matrix.NarrowValues

/** Sorts the nonzeros of columns by row. A shuffle delivers the pieces of a column in any order. */
private[columns] final class ByRow(indices: Array[Int], values: NarrowValues) {

  /** Sorts the nonzeros `from` until `until`. Takes a copy of them unless they are in order already. */
  def sort(from: Int, until: Int): Unit = if (!isSorted(from, until)) {
    // Pieces are in order, so this is a merge of runs.
    val keys = new Array[Long](until - from)
    var i = 0
    while (i < keys.length) {
      keys(i) = (indices(from + i).toLong << 32) | i
      i += 1
    }
    java.util.Arrays.sort(keys)
    val copy = NarrowValues.allocate(values.width, keys.length)
    values.copyTo(from, until, copy, 0)
    i = 0
    while (i < keys.length) {
      indices(from + i) = (keys(i) >>> 32).toInt
      values.copyOne(copy, keys(i).toInt, from + i)
      i += 1
    }
  }

  private def isSorted(from: Int, until: Int): Boolean = {
    var at = from + 1
    while (at < until && indices(at - 1) < indices(at)) at += 1
    at >= until
  }
}
