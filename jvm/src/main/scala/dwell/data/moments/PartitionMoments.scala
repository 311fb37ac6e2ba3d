package dwell.data.moments

/** Merges the moments of the blocks of one source partition, in their order, for the columns that any of them has. */
private[data] final class PartitionMoments(numFeatures: Int, binary: Boolean) {
  private val sums = new RunningMoments(binary)

  /** For each column, 1 + its position in the sums, or 0. */
  private val positions = new Array[Int](numFeatures)
  private var columns = 0

  def add(piece: MomentPiece): Unit = {
    piece.columns.foreach { column =>
      if (positions(column) == 0) {
        columns += 1
        positions(column) = columns
      }
    }
    if (columns > sums.counts.length) sums.reserve(math.max(columns, columns + (columns >> 1)))
    sums.add(piece)(column => positions(column) - 1)
  }

  /** The moments of all blocks. */
  def result: MomentPiece = {
    val used = new Array[Int](columns)
    var (next, column) = (0, 0)
    while (next < columns) {
      if (positions(column) > 0) {
        used(next) = column
        next += 1
      }
      column += 1
    }
    def ofUsed(array: Array[Double]): Array[Double] =
      if (array == null) null else used.map(column => array(positions(column) - 1))
    new MomentPiece(
      used,
      used.map(column => sums.counts(positions(column) - 1)),
      ofUsed(sums.weight),
      ofUsed(sums.mean),
      ofUsed(sums.squares),
      ofUsed(sums.positive),
      ofUsed(sums.negative))
  }
}
