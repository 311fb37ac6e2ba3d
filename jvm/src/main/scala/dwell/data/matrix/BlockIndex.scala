package dwell.data.matrix

import dwell.base.InputChangedException

/**
 * The position of each block in the whole dataset, and its contents when it was first read.
 *
 * @param firstRows
 *   number of each block's first row in the whole dataset
 * @param fingerprints
 *   hash of each block, see [[RowBlock.fingerprint]]
 */
private[data] final class BlockIndex(val firstRows: Array[Long], val fingerprints: Array[Long]) extends Serializable {

  /**
   * Returns the block if it holds the same rows as when it was first read.
   *
   * @throws dwell.base.InputChangedException
   *   otherwise
   */
  def verified[B <: ReadBlock](block: B): B =
    if (block.problem == null && block.fingerprint == fingerprints(block.index)) block
    else {
      throw new InputChangedException(
        s"Partition ${block.index} of the training data was read again, since its cached copy was lost, and held " +
          "other rows than before. The DataFrame is not deterministic: cache it with enough storage or checkpoint it, and " +
          "fit again.")
    }
}
