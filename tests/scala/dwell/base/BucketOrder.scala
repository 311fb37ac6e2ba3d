package dwell.base

/**
 * The order in which a local solver visits coordinates. A bucket holds neighbours, which the hardware can prefetch.
 * Each epoch visits the buckets in a new random order, which depends on seed, partition and cursor alone. The cursor
 * counts the buckets visited since the start of the fit.
 */
private[dwell] final class BucketOrder(coordinates: Int, seed: Long, partition: Int) {

  /** Coordinates in a bucket; the last one may have fewer. */
  val bucketSize: Int = math.max(1, math.min(64, coordinates / 256))

  /** Buckets in an epoch. */
  val buckets: Int = (coordinates - 1) / bucketSize + 1

  private val permutation = new Array[Int](buckets)
  private var drawn = -1L

  /** The first coordinate of the bucket at `cursor`. */
  def start(cursor: Long): Int = {
    val epoch = cursor / buckets
    if (epoch != drawn) draw(epoch)
    permutation((cursor % buckets).toInt) * bucketSize
  }

  /** The end, exclusive, of the bucket that starts at `start`. */
  def end(start: Int): Int = math.min(coordinates, start + bucketSize)

  private def draw(epoch: Long): Unit = {
    SplitMix.forEpoch(seed, partition, epoch).permute(permutation)
    drawn = epoch
  }
}
