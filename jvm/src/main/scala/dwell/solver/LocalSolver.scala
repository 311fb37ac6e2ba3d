package dwell.solver

import dwell.data.ColumnPartition
import dwell.jni.Cancellation

/**
 * What every worker needs to know to run one round. The same object goes to all partitions; what differs between them
 * (columns, state, stamp) is looked up by partition index.
 *
 * @param fit
 *   identifier of the fit, unique within the application; first half of the key of the worker state
 * @param round
 *   number of the round, counted from 0; the version of the worker state that the round starts from
 * @param seed
 *   seed of the coordinate order
 * @param budget
 *   local work, as a fraction of a partition's coordinates: 1.0 is one epoch
 * @param certificate
 *   whether to measure the parts of the duality gap at the start of the round (one more data pass)
 * @param centred
 *   whether columns and label are centred implicitly, which makes the intercept exact
 * @param threads
 *   threads that one call may use
 * @param stamps
 *   for each partition the stamp of the state that the driver's residual was built from
 * @param sigmaPrime
 *   CoCoA's subproblem parameter; the number of partitions is always safe
 * @param l1
 *   L1 penalty per unit of coefficient, before standardisation
 * @param l2
 *   L2 penalty, before standardisation
 * @param totalWeight
 *   sum of the row weights, S
 * @param scaleFactor
 *   S / (S - 1)-like factor that turns population variances into the ones the penalty is scaled with; 0 leaves the
 *   penalty unscaled (standardization = false)
 * @param theta1
 *   step factor for the pending direction of the previous round: 1 adds it, 0 rejects it
 * @param theta2
 *   step factor for the direction committed before that one
 */
final case class RoundRequest(
    fit: Long,
    round: Long,
    seed: Long,
    budget: Double,
    certificate: Boolean,
    centred: Boolean,
    threads: Int,
    stamps: Array[Long],
    sigmaPrime: Double,
    l1: Double,
    l2: Double,
    totalWeight: Double,
    scaleFactor: Double,
    theta1: Double,
    theta2: Double) {

  /** Coordinates that a partition of `numColumns` columns visits at least (whole buckets are visited). */
  def coordinates(numColumns: Int): Long = math.max(1L, math.ceil(numColumns * budget).toLong)
}

/**
 * State of one partition of one fit, as it travels when it is not kept by the worker: for the non-persistent mode,
 * for snapshots and for reading the coefficients at the end.
 *
 * @param version
 *   round that the state is ready for
 * @param stamp
 *   which rebuild the state descends from, see [[WorkerState.Stamp]]; 0 at the start of the fit. Version and stamp
 *   together determine the rest.
 * @param cursor
 *   buckets visited since the start of the fit; places the partition in its coordinate order
 * @param alpha
 *   committed coefficients, one per column of the partition, in local order
 * @param previous
 *   what the last commit added to `alpha`
 * @param pending
 *   result of a round that has not got its verdict yet
 */
final case class WorkerState(
    version: Long,
    stamp: Long,
    cursor: Long,
    alpha: Array[Double],
    previous: Array[Double],
    pending: Option[PendingStep]) {

  /**
   * The state after the verdict on its pending step, which becomes `theta1 * delta + theta2 * previous`; the state
   * itself where nothing is pending.
   */
  def commit(theta1: Double, theta2: Double): WorkerState = pending match {
    case None => this
    case Some(step) =>
      val newAlpha = new Array[Double](alpha.length)
      val added = new Array[Double](alpha.length)
      var i = 0
      while (i < alpha.length) {
        added(i) = theta1 * step.delta(i) + theta2 * previous(i)
        newAlpha(i) = alpha(i) + added(i)
        i += 1
      }
      WorkerState(step.round + 1, stamp, step.cursor, newAlpha, added, None)
  }
}

object WorkerState {

  /** The state that every fit starts from. */
  def zero(numColumns: Int): WorkerState =
    WorkerState(0L, 0L, 0L, new Array[Double](numColumns), new Array[Double](numColumns), None)

  /** Stamps: 0 at the start of a fit, and two for every rebuild. */
  object Stamp {

    /**
     * The stamp of what a rebuild leaves as `version`.
     *
     * Every rebuild has stamps of its own, also for a state that it keeps: it drops the step of its round, and a worker
     * that lost its state and is sent messages from before the rebuild would bring that step back, under the old stamp.
     * The two halves of a pair tell a state that was kept from one that started again, since attempts of a rebuild on
     * two workers may end differently.
     */
    def ofRebuild(version: Long, restarted: Boolean): Long = 2L * version + (if (restarted) 1L else 0L)

    /** Whether the rebuild had to start again from zero: the state had been lost. */
    def isRestart(stamp: Long): Boolean = stamp % 2L == 1L
  }
}

/** Direction `delta` that round `round` proposed, and the cursor after it. */
final case class PendingStep(round: Long, cursor: Long, delta: Array[Double])

/**
 * The local half of a round. An implementation keeps one worker state per (fit, partition) and JVM, and both
 * implementations produce the same bytes from the same input, so that a cluster may mix them.
 *
 * A call is a pure function of the committed state, the request and the shared vector: calling it again, on the same
 * worker or on another one that holds the same version, gives the same result and applies nothing twice.
 */
trait LocalSolver {

  /** "native" or "jvm". */
  def name: String

  /**
   * Runs round `r.round` on partition `p` and keeps the proposed step as pending.
   *
   * @param weights
   *   row weights, length `p.rows`, or null where every weight is 1
   * @param shared
   *   residual, `8 * p.rows` bytes, little-endian doubles
   * @param result
   *   filled in the layout of [[ResultLayout]], but for the slots from [[ResultLayout.FirstFreeSlot]] on; unspecified
   *   where the answer is false
   * @param cancellation
   *   asked every few milliseconds; true raises a CancellationException. The state is as before after any exception.
   * @return
   *   false if this worker has no state for the round (`StateLost`): the caller has to rebuild
   */
  def round(
      p: ColumnPartition,
      weights: Array[Double],
      r: RoundRequest,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Boolean

  /**
   * A rebuild: settles the step of the round before, drops the step of `r.round`, moves the state to version
   * `r.round + 1` under a new stamp, and returns the product of the partition's columns with its coefficients. A worker
   * without a matching state starts again from zero; [[WorkerState.Stamp.isRestart]] of slot [[ResultLayout.Stamp]]
   * tells the caller which of the two happened. A repeated call finds the state moved already, and leaves it alone.
   *
   * @param result
   *   as for [[round]]
   * @return
   *   false if the fit has been freed meanwhile, or the state is of a later round
   */
  def product(
      p: ColumnPartition,
      weights: Array[Double],
      r: RoundRequest,
      result: Array[Byte],
      cancellation: Cancellation): Boolean

  /** Copy of the state of one partition; None where this worker has none. */
  def exportState(fit: Long, partition: Int): Option[WorkerState]

  /** Replaces the state of one partition. A pending step is not taken over: its round can be run again. */
  def importState(fit: Long, partition: Int, s: WorkerState): Unit

  /** Frees every state of a fit and refuses late tasks of it; returns the bytes freed. */
  def free(fit: Long): Long

  /** Frees states that no call has touched for longer than `maxAgeMillis`; returns the bytes freed. */
  def expire(maxAgeMillis: Long): Long

  /** Bytes of all states held by this worker process. */
  def stateBytes: Long

  /** Number of states held by this worker process. */
  def stateEntries: Long
}
