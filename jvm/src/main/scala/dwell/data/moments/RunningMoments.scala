package dwell.data.moments

/**
 * Moments of columns that pieces are merged into, one after another. Fields as in [[MomentPiece]].
 *
 * @param binary
 *   whether the pieces have sums by class
 */
private[data] final class RunningMoments(binary: Boolean) {
  var counts: Array[Long] = Array.emptyLongArray
  var weight, mean, squares: Array[Double] = Array.emptyDoubleArray

  /** Null unless pieces have sums by class, as is `negative`. */
  var positive: Array[Double] = if (binary) Array.emptyDoubleArray else null
  var negative: Array[Double] = positive

  /** Makes room for so many columns. */
  def reserve(columns: Int): Unit = if (counts.length < columns) {
    counts = java.util.Arrays.copyOf(counts, columns)
    def longer(array: Array[Double]): Array[Double] = java.util.Arrays.copyOf(array, columns)
    weight = longer(weight)
    mean = longer(mean)
    squares = longer(squares)
    if (binary) {
      positive = longer(positive)
      negative = longer(negative)
    }
  }

  /**
   * Merges the moments of two parts into the moments of their union (Chan, Golub and LeVeque).
   *
   * @param position
   *   of a column, in the arrays here
   */
  def add(piece: MomentPiece)(position: Int => Int): Unit = {
    var i = 0
    while (i < piece.columns.length) {
      val c = position(piece.columns(i))
      if (counts(c) == 0L) {
        weight(c) = piece.weight(i)
        mean(c) = piece.mean(i)
        squares(c) = piece.squares(i)
      } else {
        val sum = weight(c) + piece.weight(i)
        val share = piece.weight(i) / sum
        val difference = piece.mean(i) - mean(c)
        squares(c) += piece.squares(i) + (difference * difference) * (weight(c) * share)
        mean(c) += difference * share
        weight(c) = sum
      }
      counts(c) += piece.counts(i)
      if (binary) {
        positive(c) += piece.positive(i)
        negative(c) += piece.negative(i)
      }
      i += 1
    }
  }
}
