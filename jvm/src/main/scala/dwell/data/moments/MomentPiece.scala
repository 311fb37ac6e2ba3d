package dwell.data.moments

/**
 * Moments of the nonzeros of some columns: in one source partition, or in several.
 *
 * @param columns
 *   feature indices, ascending
 * @param counts
 *   nonzeros of each column
 * @param widths
 *   the narrowest width that holds its nonzeros, see [[dwell.data.matrix.NarrowValues]]
 * @param weight
 *   sum of the weights of the nonzeros
 * @param mean
 *   weighted mean of the nonzeros
 * @param squares
 *   weighted sum of the squared differences from that mean; exactly 0 if all are equal
 * @param positive
 *   weighted sum of the nonzeros in rows with a positive label
 * @param other
 *   the same for the other rows
 */
private[data] final class MomentPiece(
    val columns: Array[Int],
    val counts: Array[Long],
    val widths: Array[Byte],
    val weight: Array[Double],
    val mean: Array[Double],
    val squares: Array[Double],
    val positive: Array[Double],
    val other: Array[Double])
    extends Serializable {

  /** The moments of the columns at positions `from` until `until`. */
  def slice(from: Int, until: Int): MomentPiece = {
    def part(array: Array[Double]): Array[Double] = java.util.Arrays.copyOfRange(array, from, until)
    new MomentPiece(
      java.util.Arrays.copyOfRange(columns, from, until),
      java.util.Arrays.copyOfRange(counts, from, until),
      java.util.Arrays.copyOfRange(widths, from, until),
      part(weight),
      part(mean),
      part(squares),
      part(positive),
      part(other))
  }

  /** The same moments of columns with other numbers, ascending. */
  def numbered(numbers: Array[Int]): MomentPiece =
    new MomentPiece(numbers, counts, widths, weight, mean, squares, positive, other)

  /**
   * Mean and population variance of each column over all rows, implicit zeros included. The variance is exactly 0 if all
   * values are equal.
   *
   * @param numRows
   *   number of all rows
   * @param totalWeight
   *   sum of their weights
   */
  def overRows(numRows: Long, totalWeight: Double): (Array[Double], Array[Double]) = {
    val (means, variances) = (mean.clone(), new Array[Double](mean.length))
    var c = 0
    while (c < means.length) {
      var sum = squares(c)
      // If every row has a nonzero, the difference of the sums is a rounding error, which a large mean would blow up.
      val zeroWeight = if (counts(c) == numRows) 0.0 else math.max(0.0, totalWeight - weight(c))
      if (zeroWeight > 0.0) {
        val share = zeroWeight / (weight(c) + zeroWeight)
        sum += (mean(c) * mean(c)) * (weight(c) * share)
        means(c) -= mean(c) * share
      }
      variances(c) = sum / totalWeight
      c += 1
    }
    (means, variances)
  }
}

private[data] object MomentPiece {

  /** The moments of all columns, from the moments of ranges of them, which ascend. */
  def concat(ranges: Seq[MomentPiece]): MomentPiece = new MomentPiece(
    Array.concat(ranges.map(_.columns): _*),
    Array.concat(ranges.map(_.counts): _*),
    Array.concat(ranges.map(_.widths): _*),
    Array.concat(ranges.map(_.weight): _*),
    Array.concat(ranges.map(_.mean): _*),
    Array.concat(ranges.map(_.squares): _*),
    Array.concat(ranges.map(_.positive): _*),
    Array.concat(ranges.map(_.other): _*))
}
