package dwell.base

/** Chooses the number of workers if the user sets none. */
object WorkerCount {

  /**
   * One worker for each slot, but fewer if a worker would have too few nonzeros to pay for its overhead. More workers
   * need more rounds, so few workers solve a small problem soonest.
   *
   * @param nonzeros
   *   of all partitions
   * @param slots
   *   tasks that the cluster runs at once
   * @param worthAWorker
   *   nonzeros that pay for the overhead of one worker
   */
  def choose(nonzeros: Long, slots: Int, worthAWorker: Long = NonzerosWorthAWorker): Int =
    math.max(1L, math.min(slots.toLong, nonzeros / worthAWorker)).toInt

  /**
   * About 50 ms of work in an epoch, which is also the least that a round costs. K workers whose updates are added need
   * about K times the rounds of one worker, so a second worker pays only if epochs take most of a fit's time.
   */
  private val NonzerosWorthAWorker = 10000000L
}
