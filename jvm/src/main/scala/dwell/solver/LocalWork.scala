package dwell.solver

/** How much local work a round does where the user has not said. */
object LocalWork {

  /**
   * Epochs over the local coordinates in a round. A round in `driver` mode costs 0.1 to 0.2 s whatever it carries, so
   * local work that takes less than that is as good as free; a function of the data alone, so that a fit can be
   * repeated to the bit. One epoch at least: rounds fall as 1/H up to there.
   *
   * @param partitions
   *   K; with one partition local work is never wasted, with several it is beyond a few epochs
   * @param nonzeros
   *   those of the largest partition
   */
  def epochs(partitions: Int, nonzeros: Long): Double = {
    val most = if (partitions == 1) MostAlone else MostTogether
    math.max(1.0, math.min(most, math.floor(NonzerosForFree / math.max(1L, nonzeros))))
  }

  /** Nonzeros that are visited in about 0.1 s, at 5 ns each. */
  private val NonzerosForFree = 2e7

  private val MostAlone = 64.0
  private val MostTogether = 16.0
}
