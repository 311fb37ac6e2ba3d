package dwell.data.rows

/**
 * The rows of one worker as they were read: blocks of whole source partitions.
 *
 * @param index
 *   the worker's number, 0 to K - 1
 * @param blocks
 *   the blocks in their order, each time anew
 */
final case class BlockData(index: Int, blocks: () => Iterator[BlockArrays])

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
