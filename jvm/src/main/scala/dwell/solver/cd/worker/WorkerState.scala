package dwell.solver.cd.worker

/**
 * A copy of the state of one partition of one fit. Coordinates are coefficients of columns or dual variables of rows.
 *
 * @param version
 *   round that the state is ready for
 * @param stamp
 *   the rebuild that the state descends from, see [[WorkerState.Stamp]]; 0 at the start of the fit. Version and stamp
 *   together determine the rest
 * @param cursor
 *   buckets visited since the start of the fit; places the partition in its coordinate order
 * @param alpha
 *   committed coordinates of the partition, in local order
 * @param previous
 *   the sum that the last commit added to `alpha`
 * @param pending
 *   step of a round that the leader has not judged yet
 */
final case class WorkerState(
    version: Long,
    stamp: Long,
    cursor: Long,
    alpha: Array[Double],
    previous: Array[Double],
    pending: Option[PendingStep])

/** Initial states, and stamps. */
object WorkerState {

  /** The state that every fit starts from. */
  def zero(coordinates: Int): WorkerState =
    WorkerState(0L, 0L, 0L, new Array[Double](coordinates), new Array[Double](coordinates), None)

  /**
   * Stamps: 0 at the start of a fit, and two for every rebuild, `2 version` and `2 version + 1` for the version that it
   * leaves.
   *
   * Every rebuild has stamps of its own, even for a state that it keeps, because it drops the step of its round. A
   * worker that lost its state and receives messages from before the rebuild would bring that step back under the old
   * stamp. The two stamps of a rebuild tell a state that was kept from one that started again, because two attempts
   * of a rebuild on two workers may end differently.
   */
  object Stamp {

    /** Whether the rebuild had to start again from zero: the state had been lost. */
    def isRestart(stamp: Long): Boolean = stamp % 2L == 1L
  }
}

/** Direction `delta` that round `round` proposed, and the cursor after it. */
final case class PendingStep(round: Long, cursor: Long, delta: Array[Double])
