package dwell.base

/** The splitmix64 generator. Native code has the same one: the coordinate order of a fit depends on its seed alone. */
private[dwell] final class SplitMix(private var state: Long) {

  /** The next number, uniform over all 64 bits. */
  def next(): Long = {
    state += SplitMix.Step
    SplitMix.mix(state)
  }

  /** A uniform number in 0 until `bound`, from the high half of the next number. */
  def below(bound: Int): Int = (((next() >>> 32) * bound) >>> 32).toInt

  /** Fills `places` with a random permutation of 0 until its length, by Fisher-Yates from the identity. */
  def permute(places: Array[Int]): Unit = {
    var i = 0
    while (i < places.length) {
      places(i) = i
      i += 1
    }
    i = places.length - 1
    while (i > 0) {
      val j = below(i + 1)
      val swapped = places(i)
      places(i) = places(j)
      places(j) = swapped
      i -= 1
    }
  }
}

private[dwell] object SplitMix {
  private val Step = 0x9e3779b97f4a7c15L
  private val Multiplier1 = 0xbf58476d1ce4e5b9L
  private val Multiplier2 = 0x94d049bb133111ebL

  /** The generator for one epoch of one partition. */
  def forEpoch(seed: Long, partition: Int, epoch: Long): SplitMix =
    new SplitMix(mix(seed ^ ((partition + 1L) * Step) ^ ((epoch + 1L) * Multiplier1)))

  /** The finaliser of splitmix64: a bijection that spreads every bit of `z` over all bits. */
  def mix(z: Long): Long = {
    val a = (z ^ (z >>> 30)) * Multiplier1
    val b = (a ^ (a >>> 27)) * Multiplier2
    b ^ (b >>> 31)
  }
}
