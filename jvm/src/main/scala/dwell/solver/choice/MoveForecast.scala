package dwell.solver.choice

/** Whether it pays for many passes to move the blocks of uneven partitions to workers of equal work. */
private[solver] object MoveForecast {

  /**
   * @param bytes
   *   of the rows
   * @param outputs
   *   outputs of the model
   * @param maxRounds
   *   the most rounds of the fit
   */
  def pays(facts: DataFacts, bytes: Long, outputs: Int, maxRounds: Int): Boolean = {
    val isSparse = facts.sparsePairs > facts.densePairs
    val pass = facts.nonzeros * outputs * (if (isSparse) SecondsPerSparse else SecondsPerDense)
    math.min(maxRounds, Passes) * pass * Saved > bytes * SecondsPerByte
  }

  /** The passes of a usual fit: 20 to 100. */
  private val Passes = 50

  /** One of two workers would do all of the work, or one of many twice its share. */
  private val Saved = 0.5

  /** A nonzero of a pass, on one core: of dense rows, and of rows with many features, whose coefficients come from memory. */
  private val SecondsPerDense = 1e-9
  private val SecondsPerSparse = 1.1e-8

  /** A shuffle of 192 MB from one partition takes 1.1 s (2026-11-28-uneven in bench/results). */
  private val SecondsPerByte = 6e-9
}
