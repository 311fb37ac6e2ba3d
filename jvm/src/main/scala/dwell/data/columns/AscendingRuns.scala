package dwell.data.columns

import dwell.data.matrix.NarrowValues

/**
 * Sorts stretches of nonzeros by index. A stretch consists of a few runs in which indices ascend, for a shuffle delivers
 * the pieces of a column in any order.
 */
private[columns] final class AscendingRuns(indices: Array[Int], values: NarrowValues) {

  /** Sorts the nonzeros `from` until `until`. Takes a copy of them unless they ascend already. */
  def sort(from: Int, until: Int): Unit = {
    val starts = runs(from, until)
    if (starts.length > 1) {
      val columns = java.util.Arrays.copyOfRange(indices, from, until)
      val copy = NarrowValues.allocate(values.width, until - from)
      values.copyTo(from, until, copy, 0)
      val inOrder = starts.indices.sortBy(r => columns(starts(r) - from))
      var to = from
      inOrder.foreach { r =>
        val start = starts(r) - from
        val end = (if (r + 1 < starts.length) starts(r + 1) else until) - from
        System.arraycopy(columns, start, indices, to, end - start)
        copy.copyTo(start, end, values, to)
        to += end - start
      }
    }
  }

  /** Positions where a run begins. */
  private def runs(from: Int, until: Int): Array[Int] = {
    var starts: collection.mutable.ArrayBuilder[Int] = null
    var at = from + 1
    while (at < until) {
      if (indices(at) < indices(at - 1)) {
        if (starts == null) {
          starts = Array.newBuilder[Int]
          starts += from
        }
        starts += at
      }
      at += 1
    }
    if (starts == null) Array.emptyIntArray else starts.result()
  }
}
