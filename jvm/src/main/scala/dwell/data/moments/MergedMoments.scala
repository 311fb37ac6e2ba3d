package dwell.data.moments

import dwell.base.LittleEndian

/**
 * The moments of a range of columns, packed for the driver: little-endian doubles. `flat` lists columns of variance 0.
 */
private[data] final class PackedMoments(
    val first: Int,
    val mean: Array[Byte],
    val variance: Array[Byte],
    val positive: Array[Byte],
    val negative: Array[Byte],
    val flat: Array[Int])
    extends Serializable

/**
 * Merges the source partitions' moments of the columns `first` until `first + length`, one after another, so that sums have
 * the same bits in every run if the pieces come in the order of the partitions.
 */
private[data] final class MergedMoments(
    first: Int,
    length: Int,
    pieces: Iterator[MomentPiece],
    numRows: Long,
    totalWeight: Double,
    binary: Boolean) {
  private val sums = new RunningMoments(binary)
  sums.reserve(length)
  import sums.{counts, mean, squares, weight}

  private val flat = Array.newBuilder[Int]

  pieces.foreach(piece => sums.add(piece)(column => column - first))
  addZeros()

  /** The merged moments over all rows, including implicit zeros. */
  def packed: PackedMoments =
    new PackedMoments(
      first,
      LittleEndian.bytes(mean),
      LittleEndian.bytes(squares),
      if (binary) LittleEndian.bytes(sums.positive) else null,
      if (binary) LittleEndian.bytes(sums.negative) else null,
      flat.result())

  /** Merges the implicit zeros as one more part. From here on `squares` is the variance. */
  private def addZeros(): Unit = {
    var c = 0
    while (c < length) {
      if (counts(c) > 0) {
        // If every row has a nonzero, the difference of the sums is a rounding error, which a large mean would blow up.
        val zeroWeight = if (counts(c) == numRows) 0.0 else math.max(0.0, totalWeight - weight(c))
        if (zeroWeight > 0.0) {
          val share = zeroWeight / (weight(c) + zeroWeight)
          squares(c) += (mean(c) * mean(c)) * (weight(c) * share)
          mean(c) -= mean(c) * share
        }
        squares(c) /= totalWeight
        if (squares(c) == 0.0) flat += first + c
      }
      c += 1
    }
  }
}
