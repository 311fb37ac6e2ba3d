package dwell.data.moments

/**
 * Merges moments of the columns `first` until `first + length`, one piece after another, so that sums have the same bits in
 * every run if the pieces come in the order of the partitions.
 */
private[data] final class MergedMoments(first: Int, length: Int) {
  private val counts = new Array[Long](length)
  private val positive = new Array[Double](length)
  // Null as long as all nonzeros are 1, see MomentPiece.
  private var values: ValueMoments = null

  /** Merges the moments of two parts into the moments of their union. */
  def add(piece: MomentPiece): this.type = {
    if (values == null && piece.values != null) values = ValueMoments.ones(counts)
    if (values != null) merge(piece.columns, piece.ofValues)
    var i = 0
    while (i < piece.columns.length) {
      val c = piece.columns(i) - first
      counts(c) += piece.counts(i)
      positive(c) += piece.positive(i)
      i += 1
    }
    this
  }

  /** Merges as Chan, Golub and LeVeque do. */
  private def merge(columns: Array[Int], piece: ValueMoments): Unit = {
    var i = 0
    while (i < columns.length) {
      val c = columns(i) - first
      if (counts(c) == 0L) {
        values.weight(c) = piece.weight(i)
        values.mean(c) = piece.mean(i)
        values.squares(c) = piece.squares(i)
      } else {
        val sum = values.weight(c) + piece.weight(i)
        val share = piece.weight(i) / sum
        val difference = piece.mean(i) - values.mean(c)
        values.squares(c) += piece.squares(i) + (difference * difference) * (values.weight(c) * share)
        values.mean(c) += difference * share
        values.weight(c) = sum
      }
      if (piece.widths(i) > values.widths(c)) values.widths(c) = piece.widths(i)
      i += 1
    }
  }

  /** The moments of the columns that have nonzeros. */
  def result: MomentPiece = {
    val used = counts.indices.filter(counts(_) > 0L).toArray
    new MomentPiece(
      used.map(_ + first),
      used.map(counts(_)),
      used.map(positive(_)),
      if (values == null) null
      else {
        new ValueMoments(
          used.map(values.widths(_)),
          used.map(values.weight(_)),
          used.map(values.mean(_)),
          used.map(values.squares(_)))
      })
  }
}
