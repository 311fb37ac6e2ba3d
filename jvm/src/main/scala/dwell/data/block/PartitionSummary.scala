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
 * @param hasConstant
 *   whether each block has a column with one nonzero value in all of its rows
 * @param centre
 *   the mean of each feature over the first rows; null without rows, and where features are many
 * @param problem
 *   what is wrong with the first bad row, or null
 * @param occurring
 *   a bit for each feature that is not 0 in a row; null if they are not counted
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
    hasConstant: Boolean,
    centre: Array[Double],
    problem: String,
    occurring: Array[Long] = null) {

  private def and(numFeatures: Int)(block: RowBlock): PartitionSummary = PartitionSummary(
    rowsRead + block.rowsRead,
    nonzeros + block.matrix.nonzeros,
    densePairs + (if (block.matrix.isDense) block.matrix.pairs else 0.0),
    sparsePairs + (if (block.matrix.isDense) 0.0 else block.matrix.pairs),
    bytes + block.bytes,
    if (block.matrix.values.width > width) block.matrix.values.width else width,
    BlockIndex.fingerprint(fingerprint, block),
    labels ++ LabelSummary.of(block.labels, block.weights),
    hasConstant && (block.rows == 0 || block.matrix.constantColumns.indices.nonEmpty),
    if (centre == null && block.rows > 0) PartitionSummary.centreOf(block, numFeatures) else centre,
    block.problem,
    occurring)
}

private[data] object PartitionSummary {

  /**
   * The summary of all blocks of a source partition.
   *
   * @param counted
   *   whether it tells the features that occur
   */
  def of(numFeatures: Int, counted: Boolean)(blocks: Iterator[RowBlock]): PartitionSummary = {
    val occurring = if (counted) OccurringFeatures.noMarks(numFeatures) else null
    blocks.foldLeft(NoBlocks.copy(occurring = occurring)) { (summary, block) =>
      if (counted) block.matrix.mark(occurring)
      summary.and(numFeatures)(block)
    }
  }

  private val NoBlocks =
    PartitionSummary(
      0L,
      0L,
      0.0,
      0.0,
      0L,
      NarrowValues.Ones,
      BlockIndex.NoBlocks,
      LabelSummary.None,
      hasConstant = true,
      centre = null,
      problem = null)

  /** About the mean of each feature: of the first rows. Null where features are many. */
  private[block] def centreOf(block: RowBlock, numFeatures: Int): Array[Double] =
    if (numFeatures > Few) null
    else {
      val rows = math.min(block.rows, CentreRows)
      val sums = new Array[Double](numFeatures)
      (0 until rows).foreach(block.matrix.eachNonzero(_)((column, value) => sums(column) += value))
      sums.map(_ / rows)
    }

  private val CentreRows = 256

  /** Where features are few, sums over pairs of features are affordable. */
  private[data] val Few = 4096
}
