package dwell.data.block

/**
 * Sums of the weights, and moments and extremes of the labels of all rows, merged from the moments of the source
 * partitions in their order.
 *
 * @param partitions
 *   the summaries of all source partitions, which have at least one row
 * @throws IllegalArgumentException
 *   if a sum or a moment leaves the range of a double
 */
private[data] final class LabelMoments(partitions: Seq[LabelSummary], names: ColumnNames) {

  /** Whether any weight is not 1. */
  val weighted: Boolean = partitions.exists(_.weighted)

  /** The sum of the weights, S. */
  val totalWeight: Double = partitions.map(_.weight).sum

  /** The sum of the squared weights. */
  val weightSquareSum: Double = partitions.map(_.weightSquares).sum
  if (weightSquareSum.isInfinite || totalWeight.isInfinite || totalWeight * totalWeight == 0.0) {
    throw new IllegalArgumentException(
      s"Column '${names.weight}': the sum of the weights or of their squares leaves the range of a double. Only " +
        "the ratios of weights matter: scale them to about 1.")
  }

  /** The weighted mean of the labels. */
  val mean: Double = partitions.map(_.sum).sum / totalWeight

  /** The weighted population variance of the labels. */
  val variance: Double = partitions.map(_.squaresAbout(mean)).sum / totalWeight
  if (variance.isNaN || variance.isInfinite) {
    throw new IllegalArgumentException(
      s"Column '${names.label}': the labels are so large that their variance is not a finite number. Scale them " +
        "down.")
  }

  /** The smallest label. */
  val smallest: Double = partitions.map(_.smallest).min

  /** The largest label. */
  val largest: Double = partitions.map(_.largest).max

  /** See [[Neighbours.ratio]], over the whole dataset. */
  val neighbourRatio: Double = partitions.map(_.neighbours).reduce(_ ++ _).ratio(variance)

  /** The sum of the weights of the rows with a positive label. */
  val positiveWeight: Double = partitions.map(_.positiveWeight).sum

  /** The sum of the weights of the other rows. */
  val otherWeight: Double = partitions.map(_.otherWeight).sum

  private val classes = LabelSummary.merged(partitions.map(_.classes))

  /** The sums of the weights of the rows of each class, 0 until `count`. Labels must have been classes when they were read. */
  def classWeights(count: Int): Array[Double] = Array.tabulate(count)(classes.getOrElse(_, 0.0))

  /** Number, over the whole dataset, and label of the first row whose label is neither 0 nor 1. */
  val notBinary: Option[(Long, Double)] = {
    val firstRows = partitions.scanLeft(0L)(_ + _.rows)
    partitions
      .zip(firstRows)
      .flatMap { case (partition, first) =>
        partition.notBinary.map { case (row, label) => (first + row, label) }
      }
      .headOption
  }
}
