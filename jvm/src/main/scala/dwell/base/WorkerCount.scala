package dwell.base

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
   * @param worthAWorker
   *   nonzeros that pay for a worker
   */
  def choose(nonzeros: Long, slots: Int, worthAWorker: Long = NonzerosWorthAWorker): Int =
    math.max(1L, math.min(slots.toLong, nonzeros / worthAWorker)).toInt

  /**
   * About 50 ms of work in an epoch, which is what a round costs at the least. Adding needs about K times the rounds of one
   * worker, so that a second worker pays only where epochs are what a fit consists of.
   */
  private val NonzerosWorthAWorker = 10000000L
}
