package dwell.data.matrix

import dwell.spark.InputChangedException

/**
 * The position of each source partition in the whole dataset, and its contents when it was first read.
 *
 * @param firstRows
 *   number of each partition's first row in the whole dataset
 * @param fingerprints
 *   of each partition, see [[BlockIndex.fingerprint]]
 */
private[data] final class BlockIndex(firstRows: Array[Long], fingerprints: Array[Long]) extends Serializable {

  /** The number of source partitions. */
  def partitions: Int = fingerprints.length

  /** The number of the block's first row in the whole dataset. */
  def firstRow(block: ReadBlock): Long = firstRows(block.at.partition) + block.at.rows

  /**
   * Returns the blocks of a source partition if they hold the same rows as when they were first read.
   *
   * @throws dwell.spark.InputChangedException
   *   otherwise, once the last block is asked for
   */
  def verified[B <: ReadBlock](partition: Int, blocks: Iterator[B]): Iterator[B] = {
    var found = BlockIndex.NoBlocks
    blocks.map { block =>
      found = BlockIndex.fingerprint(found, block)
      if (block.problem != null || (!blocks.hasNext && found != fingerprints(partition))) BlockIndex.changed(partition)
      block
    }
  }
}

private[data] object BlockIndex {

  /** The fingerprint of no blocks. */
  val NoBlocks: Long = 0L

  /** The fingerprint of blocks of the fingerprint `earlier`, and of one more. */
  def fingerprint(earlier: Long, block: ReadBlock): Long = MatrixBlock.hash(earlier, block.fingerprint)

  /** For a partition that was read again, and held other rows. */
  def changed(partition: Int): Nothing =
    throw new InputChangedException(
      s"Partition $partition of the training data was read again, since its cached copy was lost, and held " +
        "other rows than before. The DataFrame is not deterministic: cache it with enough storage or checkpoint it, and " +
        "fit again.")
}
