package dwell.data.moments

import java.util.Arrays.copyOfRange

/**
 * Moments of the values of some columns, which are not all 1 in rows of weight 1.
 *
 * @param widths
 *   the narrowest width that holds the nonzeros, see [[dwell.data.matrix.NarrowValues]]
 * @param weight
 *   sum of the weights of the nonzeros
 * @param mean
 *   weighted mean of the nonzeros
 * @param squares
 *   weighted sum of the squared differences from that mean; exactly 0 if all are equal
 */
private[data] final class ValueMoments(
    val widths: Array[Byte],
    val weight: Array[Double],
    val mean: Array[Double],
    val squares: Array[Double])
    extends Serializable {

  /** The moments of the columns at positions `from` until `until`. */
  def slice(from: Int, until: Int): ValueMoments = new ValueMoments(
    copyOfRange(widths, from, until),
    copyOfRange(weight, from, until),
    copyOfRange(mean, from, until),
    copyOfRange(squares, from, until))
}

private[data] object ValueMoments {

  /** For nonzeros that are 1, so many of each column, in rows of weight 1. */
  def ones(counts: Array[Long]): ValueMoments = new ValueMoments(
    new Array[Byte](counts.length),
    counts.map(_.toDouble),
    Array.fill(counts.length)(1.0),
    new Array[Double](counts.length))

  def concat(parts: Seq[ValueMoments]): ValueMoments = new ValueMoments(
    Array.concat(parts.map(_.widths): _*),
    Array.concat(parts.map(_.weight): _*),
    Array.concat(parts.map(_.mean): _*),
    Array.concat(parts.map(_.squares): _*))
}
