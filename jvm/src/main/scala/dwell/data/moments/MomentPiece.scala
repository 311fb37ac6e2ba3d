package dwell.data.moments

import java.util.Arrays.copyOfRange

/**
 * Moments of the nonzeros of some columns: in one source partition, or in several.
 *
 * @param columns
 *   feature indices, ascending
 * @param counts
 *   nonzeros of each column
 * @param positive
 *   weighted sum of the nonzeros in rows with a positive label
 * @param values
 *   what else is known of the nonzeros; null if all of them are 1 and so is the weight of each of their rows, so that a space of
 *   hashes has little to send
 */
private[data] final class MomentPiece(
    val columns: Array[Int],
    val counts: Array[Long],
    val positive: Array[Double],
    val values: ValueMoments)
    extends Serializable {

  /** What is known of the values, even if they are all 1. */
  def ofValues: ValueMoments = if (values != null) values else ValueMoments.ones(counts)

  /** The moments of the columns at positions `from` until `until`. */
  def slice(from: Int, until: Int): MomentPiece = new MomentPiece(
    copyOfRange(columns, from, until),
    copyOfRange(counts, from, until),
    copyOfRange(positive, from, until),
    if (values == null) null else values.slice(from, until))

  /** The same moments of columns with other numbers, ascending. */
  def numbered(numbers: Array[Int]): MomentPiece = new MomentPiece(numbers, counts, positive, values)

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
    val of = ofValues
    val (means, variances) = (of.mean.clone(), new Array[Double](columns.length))
    var c = 0
    while (c < means.length) {
      var sum = of.squares(c)
      // If every row has a nonzero, the difference of the sums is a rounding error, which a large mean would blow up.
      val zeroWeight = if (counts(c) == numRows) 0.0 else math.max(0.0, totalWeight - of.weight(c))
      if (zeroWeight > 0.0) {
        val share = zeroWeight / (of.weight(c) + zeroWeight)
        sum += (of.mean(c) * of.mean(c)) * (of.weight(c) * share)
        means(c) -= of.mean(c) * share
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
    Array.concat(ranges.map(_.positive): _*),
    if (ranges.forall(_.values == null)) null else ValueMoments.concat(ranges.map(_.ofValues)))
}
