package dwell.data.matrix

/**
 * Consecutive rows of one partition while it is read: all dense, with every value, or all sparse, with the nonzeros.
 * Many chunks of moderate size take less memory than one array that grows.
 *
 * @param numColumns
 *   length of a row
 * @param capacity
 *   number of values that the chunk has room for
 */
private[matrix] final class VectorChunk(val isDense: Boolean, numColumns: Int, capacity: Int) {

  /** Column of each nonzero; null if the rows are dense. */
  var indices: Array[Int] = if (isDense) null else new Array[Int](capacity)

  /** The values, in the width of Spark's vectors: only the block knows how narrow they can be. */
  var values: Array[Double] = new Array[Double](capacity)

  /** The number of values held. */
  var length: Int = 0

  /** The number of rows held. */
  var rows: Int = 0

  /** Whether there is room for so many more values. */
  def hasRoom(more: Int): Boolean = more <= capacity - length

  /** Gives back the room that is left if that is much: where dense and sparse rows take turns, each has a chunk. */
  def close(): Unit =
    if (capacity - length > capacity / 8) {
      values = java.util.Arrays.copyOf(values, length)
      if (!isDense) indices = java.util.Arrays.copyOf(indices, length)
    }

  /**
   * Copies the rows into a dense matrix, from position `at` on.
   *
   * @param counts
   *   number of nonzeros of each row
   * @param firstRow
   *   position in `counts` of the first row of the chunk
   */
  def copyTo(dense: NarrowValues, at: Int, counts: Array[Int], firstRow: Int): Unit =
    if (isDense) new NarrowValues(null, values).copyTo(0, length, dense, at)
    else {
      var from = 0
      var row = 0
      while (row < rows) {
        val start = at + row * numColumns
        val until = from + counts(firstRow + row)
        while (from < until) {
          dense(start + indices(from)) = values(from)
          from += 1
        }
        row += 1
      }
    }

  /** Copies the nonzeros into the arrays of a sparse matrix, from position `at` on. */
  def copyTo(columns: Array[Int], nonzeros: NarrowValues, at: Int): Unit =
    if (isDense) {
      var target = at
      var from = 0
      while (from < length) {
        val value = values(from)
        if (value != 0.0) {
          columns(target) = from % numColumns
          nonzeros(target) = value
          target += 1
        }
        from += 1
      }
    } else {
      System.arraycopy(indices, 0, columns, at, length)
      new NarrowValues(null, values).copyTo(0, length, nonzeros, at)
    }
}
