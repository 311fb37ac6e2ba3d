package dwell.data.matrix

import dwell.base.InputChangedException

/**
 * Where the blocks' rows are in the whole dataset, and what the blocks held when they were first read.
 *
 * @param firstRows
 *   number of each block's first row
 */
private[data] final class BlockIndex(val firstRows: Array[Int], val fingerprints: Array[Long]) extends Serializable {

  /**
   * The block, if it holds what it held when it was first read.
   *
   * @throws InputChangedException
   *   if it does not
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
