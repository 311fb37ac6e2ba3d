package dwell.data.rows

/**
 * The rows of one worker in blocks.
 *
 * @param index
 *   the worker's number, 0 to K - 1
 * @param blocks
 *   the blocks in their order, each time anew
 */
final case class BlockData(index: Int, blocks: () => Iterator[BlockArrays])

object BlockData {

  /**
   * A partition of rows as blocks of about so many entries, or as one if its rows are dense. A killed task ends between two blocks, and
   * entries of sparse rows take ten times as long.
   */
  private[dwell] def of(p: RowPartition, entries: Int = EntriesOfBlock): BlockData = {
    val rows =
      if (p.isDense) math.max(1, p.numRows)
      else math.max(1L, entries.toLong * p.numRows / math.max(1, p.nonzeros)).toInt
    def block(from: Int): BlockArrays = {
      val until = math.min(p.numRows, from + rows)
      if (until - from == p.numRows) BlockArrays(p.offsets, p.indices, p.values32, p.values64, p.labels, p.weights)
      else {
        // Offsets of a part of the rows point into the arrays of all.
        BlockArrays(
          p.offsets.slice(from, until + 1),
          p.indices,
          p.values32,
          p.values64,
          p.labels.slice(from, until),
          if (p.weights == null) null else p.weights.slice(from, until))
      }
    }
    BlockData(p.index, () => Iterator.range(0, p.numRows, rows).map(block))
  }

  /** About ten milliseconds of work. */
  private val EntriesOfBlock = 1 << 20
}

/**
 * The arrays of a block, for native calls. Nobody may change them.
 *
 * @param offsets
 *   entries of row i are at offsets(i) until offsets(i + 1); null if rows are dense
 * @param features
 *   the feature of each entry; null if rows are dense
 * @param values32
 *   the values, row after row, if floats hold them exactly; null otherwise
 * @param values64
 *   the values otherwise; both are null if every value is 1
 * @param labels
 *   label of each row; classes are 0 and 1
 * @param weights
 *   weight of each row, or null if every weight is 1
 */
final case class BlockArrays(
    offsets: Array[Int],
    features: Array[Int],
    values32: Array[Float],
    values64: Array[Double],
    labels: Array[Double],
    weights: Array[Double])
