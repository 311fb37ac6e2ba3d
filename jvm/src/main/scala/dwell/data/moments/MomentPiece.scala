package dwell.data.moments

/**
 * Moments of the nonzeros of some columns, in one block or in one source partition.
 *
 * @param columns
 *   feature indices, ascending
 * @param counts
 *   nonzeros of each column
 * @param weight
 *   sum of the weights of the nonzeros
 * @param mean
 *   weighted mean of the nonzeros
 * @param squares
 *   weighted sum of the squared differences from that mean
 * @param positive
 *   weighted sum of the nonzeros in rows of label 1, or null unless all labels are 0 or 1
 * @param negative
 *   the same for the other rows
 */
private[data] final class MomentPiece(
    val columns: Array[Int],
    val counts: Array[Long],
    val weight: Array[Double],
    val mean: Array[Double],
    val squares: Array[Double],
    val positive: Array[Double],
    val negative: Array[Double])
    extends Serializable {

  /** The moments of the columns at positions `from` until `until`. */
  def slice(from: Int, until: Int): MomentPiece = {
    def part(array: Array[Double]): Array[Double] =
      if (array == null) null else java.util.Arrays.copyOfRange(array, from, until)
    new MomentPiece(
      java.util.Arrays.copyOfRange(columns, from, until),
      java.util.Arrays.copyOfRange(counts, from, until),
      part(weight),
      part(mean),
      part(squares),
      part(positive),
      part(negative))
  }
}
