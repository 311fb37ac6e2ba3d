package dwell.data.columns

/**
 * The assignment of columns to partitions.
 *
 * @param partitionOf
 *   partition of each column, or -1 if the column is left out
 * @param loads
 *   number of nonzeros of each partition
 */
private[data] final class ColumnAssignment(val partitionOf: Array[Int], val loads: Array[Long])

private[data] object ColumnAssignment {

  /**
   * Longest processing time first: goes through the columns in order of falling count, and assigns each to the
   * partition that has the fewest nonzeros so far. With many light columns, the final loads differ by at most one light
   * column. The index breaks ties, so the result depends on the counts alone.
   *
   * @param counts
   *   number of nonzeros of each column; columns with 0 are left out
   * @param numPartitions
   *   number of partitions; those beyond the number of columns stay empty
   */
  def balanced(counts: Array[Int], numPartitions: Int): ColumnAssignment = {
    val partitionOf = Array.fill(counts.length)(-1)
    val heap = new LoadHeap(numPartitions)
    val order = byFallingCount(counts)
    var i = 0
    while (i < order.length) {
      val column = order(i).toInt
      partitionOf(column) = heap.addToLightest(counts(column))
      i += 1
    }
    new ColumnAssignment(partitionOf, heap.loads)
  }

  /** The columns of a partition, ascending. */
  def columns(partitionOf: Array[Int], partition: Int): Array[Int] = {
    val columns = new Array[Int](partitionOf.count(_ == partition))
    var next = 0
    var column = 0
    while (next < columns.length) {
      if (partitionOf(column) == partition) {
        columns(next) = column
        next += 1
      }
      column += 1
    }
    columns
  }

  /** Sort keys with the column in the low half: the highest count comes first, then the lowest column. */
  private def byFallingCount(counts: Array[Int]): Array[Long] = {
    val keys = new Array[Long](counts.count(_ > 0))
    var next = 0
    var column = 0
    while (column < counts.length) {
      if (counts(column) > 0) {
        keys(next) = ((Int.MaxValue - counts(column)).toLong << 32) | column
        next += 1
      }
      column += 1
    }
    java.util.Arrays.sort(keys)
    keys
  }

  /** A binary heap of partitions with the lightest on top; the index orders equal loads. */
  private final class LoadHeap(numPartitions: Int) {
    val loads = new Array[Long](numPartitions)
    private val heap = Array.range(0, numPartitions)

    def addToLightest(load: Int): Int = {
      val partition = heap(0)
      loads(partition) += load
      siftDown()
      partition
    }

    private def siftDown(): Unit = {
      var at = 0
      var sinking = true
      while (sinking) {
        val left = 2 * at + 1
        val right = left + 1
        val child = if (right < heap.length && lighter(heap(right), heap(left))) right else left
        if (child < heap.length && lighter(heap(child), heap(at))) {
          val partition = heap(at)
          heap(at) = heap(child)
          heap(child) = partition
          at = child
        } else {
          sinking = false
        }
      }
    }

    private def lighter(a: Int, b: Int): Boolean =
      loads(a) < loads(b) || (loads(a) == loads(b) && a < b)
  }
}
