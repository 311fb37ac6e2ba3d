package dwell.data.moments

/**
 * Merges moments of the columns `first` until `first + length`, one piece after another, so that sums have the same bits in
 * every run if the pieces come in the order of the partitions.
 */
private[data] final class MergedMoments(first: Int, length: Int) {
  private val counts = new Array[Long](length)
  private val widths = new Array[Byte](length)
  private val weight, mean, squares, positive, other = new Array[Double](length)

  /** Merges the moments of two parts into the moments of their union (Chan, Golub and LeVeque). */
  def add(piece: MomentPiece): this.type = {
    var i = 0
    while (i < piece.columns.length) {
      val c = piece.columns(i) - first
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
      if (piece.widths(i) > widths(c)) widths(c) = piece.widths(i)
      positive(c) += piece.positive(i)
      other(c) += piece.other(i)
      i += 1
    }
    this
  }

  /** The moments of the columns that have nonzeros. */
  def result: MomentPiece = {
    val used = counts.indices.filter(counts(_) > 0L).toArray
    def ofUsed(array: Array[Double]): Array[Double] = used.map(array(_))
    new MomentPiece(
      used.map(_ + first),
      used.map(counts(_)),
      used.map(widths(_)),
      ofUsed(weight),
      ofUsed(mean),
      ofUsed(squares),
      ofUsed(positive),
      ofUsed(other))
  }
}
