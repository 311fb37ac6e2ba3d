package dwell.data.block

import dwell.data.matrix.ConstantColumns

/** A block's report to the driver: fields as in [[RowBlock]]; labels and weights are little-endian doubles. */
private[data] final case class BlockSummary(
    index: Int,
    rowsRead: Long,
    rows: Int,
    nonzeros: Int,
    fingerprint: Long,
    labels: Array[Byte],
    weights: Array[Byte],
    constant: ConstantColumns,
    problem: String)
