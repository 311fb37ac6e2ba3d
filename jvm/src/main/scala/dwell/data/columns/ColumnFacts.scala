package dwell.data.columns

import dwell.data.block.ReadRows
import dwell.data.moments.MomentPiece

/**
 * What reading has found of each column; 0 for those that are left out, which must not affect the balance.
 *
 * @param counts
 *   number of nonzeros
 * @param widths
 *   the narrowest width that holds them
 * @param mean
 *   weighted mean, including implicit zeros
 * @param variance
 *   weighted population variance, including implicit zeros; positive unless the column is left out
 */
private[data] final class ColumnFacts(
    val counts: Array[Int],
    val widths: Array[Byte],
    val mean: Array[Double],
    val variance: Array[Double])
    extends Serializable {

  /** The number of nonzeros of all columns that are not left out. */
  def nonzeros: Long = counts.iterator.map(_.toLong).sum
}

private[data] object ColumnFacts {

  /**
   * The columns of rows as many as an Int counts.
   *
   * @throws IllegalArgumentException
   *   if a variance overflows
   */
  def of(rows: ReadRows): ColumnFacts = of(rows.moments, rows.solved, rows.numFeatures, rows.mean, rows.variance)

  /**
   * @param solved
   *   positions in the moments of the columns that are not left out
   * @param mean
   *   of each column of the moments
   * @param variance
   *   of each column of the moments
   */
  def of(
      moments: MomentPiece,
      solved: Array[Int],
      numFeatures: Int,
      mean: Array[Double],
      variance: Array[Double]): ColumnFacts = {
    val facts = new ColumnFacts(
      new Array[Int](numFeatures),
      new Array[Byte](numFeatures),
      new Array[Double](numFeatures),
      new Array[Double](numFeatures))
    val widths = moments.ofValues.widths
    solved.foreach { i =>
      val column = moments.columns(i)
      facts.counts(column) = moments.counts(i).toInt
      facts.widths(column) = widths(i)
      facts.mean(column) = mean(i)
      facts.variance(column) = variance(i)
    }
    facts
  }
}
