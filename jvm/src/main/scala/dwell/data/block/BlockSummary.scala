package dwell.data.block

/**
 * A block's report to the driver: fields as in [[RowBlock]]. Its size does not grow with rows nor with features.
 *
 * @param hasConstant
 *   whether a column has one nonzero value in all rows of the block
 */
private[data] final case class BlockSummary(
    index: Int,
    rowsRead: Long,
    nonzeros: Int,
    fingerprint: Long,
    labels: LabelSummary,
    hasConstant: Boolean,
    problem: String)
