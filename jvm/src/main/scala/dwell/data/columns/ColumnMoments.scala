package dwell.data.columns

import dwell.data.matrix.NarrowValues

/**
 * Mean and variance of columns, in two passes over the nonzeros. All other rows count as zeros. A dense column has the
 * same sums as its nonzeros alone, to the bit.
 *
 * @param numRows
 *   number of rows of the whole dataset
 * @param weights
 *   weight of each row, or null if every weight is 1
 * @param totalWeight
 *   sum of the weights
 */
private[columns] final class ColumnMoments(numRows: Int, weights: Array[Double], totalWeight: Double) {

  /**
   * The weighted mean of the column whose values are at `from` until `until`.
   *
   * @param indices
   *   row of each value, or null if the column has a value for each row
   */
  def mean(indices: Array[Int], values: NarrowValues, from: Int, until: Int): Double = {
    var sum = 0.0
    var at = from
    while (at < until) {
      sum += weight(indices, from, at) * values(at)
      at += 1
    }
    sum / totalWeight
  }

  /** The weighted population variance of the same column. */
  def variance(indices: Array[Int], values: NarrowValues, from: Int, until: Int, mean: Double): Double = {
    var sum = 0.0
    var nonzeros = 0
    var nonzeroWeight = 0.0
    var at = from
    while (at < until) {
      val value = values(at)
      if (value != 0.0) {
        val s = weight(indices, from, at)
        val difference = value - mean
        sum += s * (difference * difference)
        nonzeroWeight += s
        nonzeros += 1
      }
      at += 1
    }
    // If every row has a nonzero, the difference of the sums is a rounding error, which a large mean would blow up.
    val zeroWeight = if (nonzeros == numRows) 0.0 else math.max(0.0, totalWeight - nonzeroWeight)
    (sum + zeroWeight * (mean * mean)) / totalWeight
  }

  private def weight(indices: Array[Int], from: Int, at: Int): Double =
    if (weights == null) 1.0 else weights(if (indices == null) at - from else indices(at))
}
