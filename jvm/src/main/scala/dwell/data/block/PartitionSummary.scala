package dwell.data.block

import dwell.data.matrix.{BlockIndex, NarrowValues}

/**
 * A source partition's report to the driver. Its size does not grow with rows nor with features.
 *
 * @param rowsRead
 *   rows read, those that are not kept included
 * @param bytes
 *   of all blocks
 * @param width
 *   a width that holds all values, see [[dwell.data.matrix.NarrowValues]]
 * @param fingerprint
 *   see [[dwell.data.matrix.BlockIndex.fingerprint]]
 * @param hasConstant
 *   whether each block has a column with one nonzero value in all of its rows
 * @param problem
 *   what is wrong with the first bad row, or null
 */
private[data] final case class PartitionSummary(
    rowsRead: Long,
    nonzeros: Long,
    bytes: Long,
    width: Byte,
    fingerprint: Long,
    labels: LabelSummary,
    hasConstant: Boolean,
    problem: String) {

  private def and(block: RowBlock): PartitionSummary = PartitionSummary(
    rowsRead + block.rowsRead,
    nonzeros + block.matrix.nonzeros,
    bytes + block.bytes,
    if (block.matrix.values.width > width) block.matrix.values.width else width,
    BlockIndex.fingerprint(fingerprint, block),
    labels ++ LabelSummary.of(block.labels, block.weights),
    hasConstant && (block.rows == 0 || block.matrix.constantColumns.indices.nonEmpty),
    block.problem)
}

private[data] object PartitionSummary {

  /** The summary of all blocks of a source partition. */
  def of(blocks: Iterator[RowBlock]): PartitionSummary = blocks.foldLeft(NoBlocks)(_ and _)

  private val NoBlocks =
    PartitionSummary(
      0L,
      0L,
      0L,
      NarrowValues.Ones,
      BlockIndex.NoBlocks,
      LabelSummary.None,
      hasConstant = true,
      problem = null)
}
