package dwell.data.rows

/**
 * The rows of one worker in blocks.
 *
 * @param index
 *   the worker's number, 0 to K - 1
 * @param blocks
 *   the blocks in their order, each time anew
 */
final case class BlockData(index: Int, blocks: () => Iterator[BlockArrays]) {

  /** All blocks that have rows, or one without. */
  private[data] def all: Array[BlockArrays] = {
    val all = blocks().toArray
    if (all.isEmpty) Array(BlockArrays.Empty) else all
  }
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
    weights: Array[Double]) {

  /** The number of rows. */
  def rows: Int = labels.length

  /** The number of stored values. */
  def stored: Int =
    if (features != null) features.length else if (values32 != null) values32.length else values64.length

  /**
   * Calls `use` with the feature of each value that is not 0.
   *
   * @param length
   *   number of features
   */
  private[data] def eachFeature(length: Int)(use: Int => Unit): Unit = {
    var at = 0
    while (at < stored) {
      if (features != null) use(features(at))
      else if (if (values32 != null) values32(at) != 0f else values64(at) != 0.0) use(at % length)
      at += 1
    }
  }
}

object BlockArrays {

  /** Bytes of a row beside its values, at most: offset, label and weight. */
  private[data] val BytesOfRow = 20L

  /** A block without rows. */
  private[data] val Empty: BlockArrays =
    BlockArrays(Array(0), Array.emptyIntArray, null, null, Array.emptyDoubleArray, weights = null)
}
