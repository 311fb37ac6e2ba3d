package dwell.solver

/** How many partitions train side by side where the user has not said. */
object WorkerCount {

  /**
   * As many as there are slots, but none with so little to do that a round is all overhead: rounds grow with the number
   * of partitions, so a small problem is solved soonest in few.
   *
   * @param nonzeros
   *   of all partitions
   * @param slots
   *   tasks that the cluster runs at once
   */
  def choose(nonzeros: Long, slots: Int): Int =
    math.max(1L, math.min(slots.toLong, nonzeros / NonzerosWorthAWorker)).toInt

  /** About 5 ms of work in an epoch, beside 100 ms and more that a round costs. */
  private val NonzerosWorthAWorker = 1000000L
}
