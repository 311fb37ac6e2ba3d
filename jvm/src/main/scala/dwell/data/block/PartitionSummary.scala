package dwell.data.block

import dwell.data.matrix.{BlockIndex, NarrowValues}

/**
 * A source partition's report to the driver. Its size does not grow with rows.
 *
 * @param rowsRead
 *   rows read, those that are not kept included
 * @param densePairs
 *   see [[dwell.data.matrix.MatrixBlock.pairs]], of the dense blocks
 * @param sparsePairs
 *   the same of the sparse blocks
 * @param bytes
 *   of all blocks
 * @param width
 *   a width that holds all values, see [[dwell.data.matrix.NarrowValues]]
 * @param fingerprint
 *   see [[dwell.data.matrix.BlockIndex.fingerprint]]
 * @param problem
 *   what is wrong with the first bad row, or null
 */
private[data] final case class PartitionSummary(
    rowsRead: Long,
    nonzeros: Long,
    densePairs: Double,
    sparsePairs: Double,
    bytes: Long,
    width: Byte,
    fingerprint: Long,
    labels: LabelSummary,
    problem: String) {

  /** The summary of these blocks and of one more, whose labels have this summary. */
  def and(block: RowBlock, ofLabels: LabelSummary): PartitionSummary = PartitionSummary(
    rowsRead + block.rowsRead,
    nonzeros + block.matrix.nonzeros,
    densePairs + (if (block.matrix.isDense) block.matrix.pairs else 0.0),
    sparsePairs + (if (block.matrix.isDense) 0.0 else block.matrix.pairs),
    bytes + block.bytes,
    if (block.matrix.values.width > width) block.matrix.values.width else width,
    BlockIndex.fingerprint(fingerprint, block),
    labels ++ ofLabels,
    block.problem)
}

private[data] object PartitionSummary {

  val NoBlocks: PartitionSummary =
    PartitionSummary(0L, 0L, 0.0, 0.0, 0L, NarrowValues.Ones, BlockIndex.NoBlocks, LabelSummary.Empty, problem = null)

  /** Where features are few, sums over pairs of features are affordable. */
  private[data] val Few = 4096
}
