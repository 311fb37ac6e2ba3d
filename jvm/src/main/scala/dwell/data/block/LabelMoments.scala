package dwell.data.block

/**
 * Sums of the weights, and moments and extremes of the labels of all rows, merged from those of the blocks in the order
 * of the blocks.
 *
 * The sum of squares about the mean is that of each block about its own centre, moved to the common mean (Chan, Golub
 * and LeVeque, "Algorithms for computing the sample variance", 1983). A centre is rounded, so its residual moves along:
 * without it, labels far from 0 would lose digits where blocks differ.
 *
 * @param blocks
 *   the summaries of all blocks, which have at least one row
 * @throws IllegalArgumentException
 *   if a sum or a moment leaves the range of a double
 */
private[data] final class LabelMoments(blocks: Seq[LabelSummary], names: ColumnNames) {

  /** Whether any weight is not 1. */
  val weighted: Boolean = blocks.exists(_.weighted)

  /** The sum of the weights, S. */
  val totalWeight: Double = blocks.map(_.weight).sum

  /** The sum of the squared weights. */
  val weightSquareSum: Double = blocks.map(_.weightSquares).sum
  if (weightSquareSum.isInfinite || totalWeight.isInfinite || totalWeight * totalWeight == 0.0) {
    throw new IllegalArgumentException(
      s"Column '${names.weight}': the sum of the weights or of their squares leaves the range of a double. Only " +
        "the ratios of weights matter: scale them to about 1.")
  }

  /** The weighted mean of the labels. */
  val mean: Double = blocks.map(_.sum).sum / totalWeight

  /** The weighted population variance of the labels. */
  val variance: Double = LabelMoments.squares(blocks, mean) / totalWeight
  if (variance.isNaN || variance.isInfinite) {
    throw new IllegalArgumentException(
      s"Column '${names.label}': the labels are so large that their variance is not a finite number. Scale them " +
        "down.")
  }

  /** The smallest label. */
  val smallest: Double = blocks.map(_.smallest).min

  /** The largest label. */
  val largest: Double = blocks.map(_.largest).max

  /** The sum of the weights of the rows with a positive label. */
  val positiveWeight: Double = blocks.map(_.positiveWeight).sum

  /** The sum of the weights of the other rows. */
  val otherWeight: Double = blocks.map(_.otherWeight).sum

  /** Number, over the whole dataset, and label of the first row whose label is neither 0 nor 1. */
  val notBinary: Option[(Long, Double)] = {
    val firstRows = blocks.scanLeft(0L)(_ + _.rows)
    blocks
      .zip(firstRows)
      .flatMap { case (block, first) =>
        block.notBinary.map { case (row, label) => (first + row, label) }
      }
      .headOption
  }
}

private[block] object LabelMoments {

  /** The weighted sum of the squared differences of the blocks' labels from `mean`. */
  def squares(blocks: Seq[LabelSummary], mean: Double): Double = blocks.map { block =>
    val shift = block.centre - mean
    block.squares + shift * (2.0 * block.residual + block.weight * shift)
  }.sum
}
