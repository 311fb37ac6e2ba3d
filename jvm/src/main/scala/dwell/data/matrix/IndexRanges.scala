package dwell.data.matrix

/**
 * Ranges of the indices 0 until `length`, one for each task that merges what blocks say of columns or of classes. What
 * the blocks say of one index meets in one task. Therefore neither a worker nor the driver holds what all blocks say of
 * all indices.
 *
 * @param numBlocks
 *   number of partitions that say something; more tasks than those do not pay
 */
private[data] final class IndexRanges(length: Int, numBlocks: Int) extends Serializable {
  import IndexRanges._

  /** The number of ranges, at least 1. */
  val count: Int = math.max(1 + length / Widest, Seq(numBlocks, length / WorthATask, MostTasks).min)

  private val width = length / count + 1

  /** The first index of range `k`. */
  def first(k: Int): Int = math.min(k.toLong * width, length.toLong).toInt

  /** The number of indices in range `k`. */
  def size(k: Int): Int = math.min(width, length - first(k))

  /**
   * Cuts what a block says at the borders of the ranges; gives each part with the number of its range.
   *
   * @param indices
   *   the indices of which the block says something, ascending
   * @param part
   *   what it says of those at positions `from` until `until`
   */
  def cut[P](indices: Array[Int])(part: (Int, Int) => P): Iterator[(Int, P)] =
    new Iterator[(Int, P)] {
      private var from = 0

      override def hasNext: Boolean = from < indices.length

      override def next(): (Int, P) = {
        val range = indices(from) / width
        var until = from + 1
        while (until < indices.length && indices(until) / width == range) until += 1
        val own = part(from, until)
        from = until
        (range, own)
      }
    }
}

private[data] object IndexRanges {

  /** The least number of indices that are worth a task of their own. */
  private val WorthATask = 4096

  /** Each partition sends something to each task: that many small pieces cost more than they share. */
  private val MostTasks = 64

  /** A task packs a double for each of them into one array of bytes. */
  private val Widest = 1 << 24
}
