package dwell.data.block

/**
 * What a block reports of its labels y_i and weights s_i. Sums are taken in the order of the rows.
 *
 * @param rows
 *   number of rows
 * @param weighted
 *   whether any weight is not 1
 * @param weight
 *   sum of the weights
 * @param weightSquares
 *   sum of the squared weights
 * @param sum
 *   sum of s_i y_i
 * @param residual
 *   sum of s_i (y_i - centre)
 * @param squares
 *   sum of s_i (y_i - centre)^2
 * @param smallest
 *   smallest label; infinity without rows
 * @param largest
 *   largest label; -infinity without rows
 * @param positiveWeight
 *   sum of the weights of the rows with a positive label
 * @param otherWeight
 *   sum of the weights of the other rows
 * @param notBinary
 *   position in the block and label of the first row whose label is neither 0 nor 1
 */
private[data] final case class LabelSummary(
    rows: Int,
    weighted: Boolean,
    weight: Double,
    weightSquares: Double,
    sum: Double,
    residual: Double,
    squares: Double,
    smallest: Double,
    largest: Double,
    positiveWeight: Double,
    otherWeight: Double,
    notBinary: Option[(Int, Double)]) {

  /** The weighted mean of the labels, up to rounding; 0 without rows. */
  def centre: Double = LabelSummary.centre(sum, weight)
}

private[data] object LabelSummary {

  /**
   * Summarises the labels of a block, in two passes.
   *
   * @param weights
   *   weight of each row, or null if every weight is 1
   */
  def of(labels: Array[Double], weights: Array[Double]): LabelSummary = {
    def weightOf(i: Int): Double = if (weights == null) 1.0 else weights(i)
    var weight, weightSquares, sum, positiveWeight, otherWeight = 0.0
    var smallest = Double.PositiveInfinity
    var largest = Double.NegativeInfinity
    var notBinary = -1
    var i = 0
    while (i < labels.length) {
      val s = weightOf(i)
      val y = labels(i)
      weight += s
      weightSquares += s * s
      sum += s * y
      if (y > 0.0) positiveWeight += s else otherWeight += s
      if (y < smallest) smallest = y
      if (y > largest) largest = y
      if (notBinary < 0 && y != 0.0 && y != 1.0) notBinary = i
      i += 1
    }
    val middle = centre(sum, weight)
    var residual, squares = 0.0
    i = 0
    while (i < labels.length) {
      val difference = labels(i) - middle
      residual += weightOf(i) * difference
      squares += weightOf(i) * (difference * difference)
      i += 1
    }
    LabelSummary(
      labels.length,
      weights != null,
      weight,
      weightSquares,
      sum,
      residual,
      squares,
      smallest,
      largest,
      positiveWeight,
      otherWeight,
      if (notBinary < 0) None else Some((notBinary, labels(notBinary))))
  }

  private def centre(sum: Double, weight: Double): Double = if (weight > 0.0) sum / weight else 0.0
}
