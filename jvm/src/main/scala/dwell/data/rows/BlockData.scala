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
