package dwell.solver

import dwell.data.{ColumnPartition, RowPartition}
import dwell.jni.Cancellation
import dwell.solver.sgd.SgdSolver

/** The data of one partition, in one of the two orientations. */
sealed trait LocalData {

  /** Which partition this is, 0 to numPartitions - 1. */
  def index: Int

  /** Coordinates that the partition owns. */
  def coordinates: Int

  /** Entries of the vector that all partitions share. */
  def vectorLength: Int

  def nonzeros: Long

  /** What an entry of the shared vector belongs to, for messages. */
  private[solver] def entryName: String

  /** What the shared vector is, for messages. */
  private[solver] def sharedName: String

  /** `value`, entry `j` of a vector that the solver returns; an error if it is not finite. */
  private[solver] final def finite(value: Double, what: String, j: Int): Double =
    if (!value.isNaN && !value.isInfinite) value
    else throw new ArithmeticException(s"the $what of $entryName $j overflowed: scale the features or the labels down")

  private[solver] final def mismatch(problem: Subproblem): Nothing = throw new IllegalArgumentException(
    s"partition $index holds ${getClass.getSimpleName}, which ${problem.getClass.getSimpleName} is not for: columns go " +
      "with the primal problem, rows with the dual one")
}

/**
 * Columns: the primal orientation. Coordinates are coefficients, the shared vector has one entry per row.
 *
 * @param weights
 *   row weights, one a row of the dataset, or null where every weight is 1
 */
final case class ColumnData(partition: ColumnPartition, weights: Array[Double]) extends LocalData {
  override def index: Int = partition.index
  override def coordinates: Int = partition.numColumns
  override def vectorLength: Int = partition.rows
  override def nonzeros: Long = partition.nonzeros.toLong
  override private[solver] def entryName: String = "row"
  override private[solver] def sharedName: String = "residual"
}

/**
 * Rows: the dual orientation. Coordinates are dual variables, the shared vector has one entry per feature.
 *
 * @param scale
 *   inverse of each feature's penalty relative to l2, 0 for features that are left out; null where every one is 1
 */
final case class RowData(partition: RowPartition, scale: Array[Double]) extends LocalData {
  override def index: Int = partition.index
  override def coordinates: Int = partition.numRows
  override def vectorLength: Int = partition.features
  override def nonzeros: Long = partition.nonzeros.toLong
  override private[solver] def entryName: String = "feature"
  override private[solver] def sharedName: String = "coefficient"
}

/** The local problem of a round, but for what both orientations have in common. */
sealed trait Subproblem extends Serializable

/**
 * Coefficients of the columns, for least squares: g_i(a) = l1_i |a| + l2_i a^2 / 2 is the penalty. For a smooth loss with
 * curvature bound d the caller shares r = -l'(z) / d in place of the residual, and gives both penalties divided by d.
 *
 * @param l1
 *   L1 penalty per unit of coefficient, before standardisation
 * @param l2
 *   L2 penalty, before standardisation
 * @param scaleFactor
 *   S / (S - 1)-like factor that turns population variances into the ones the penalty is scaled with; 0 leaves the
 *   penalty unscaled (standardization = false)
 * @param centred
 *   whether columns and label are centred implicitly, which makes the intercept exact
 */
final case class PrimalSubproblem(l1: Double, l2: Double, scaleFactor: Double, centred: Boolean) extends Subproblem

/**
 * Dual variables of the rows, for any loss and a penalty with an L2 part.
 *
 * @param l2
 *   L2 penalty, positive; what differs between features is in the scale of [[RowData]]
 * @param intercept
 *   h, what a dual variable's step adds to the predictions by way of the intercept, relative to its weight; 0 without
 *   intercept
 * @param offset
 *   intercept at the start of the round
 * @param candidates
 *   intercepts at which a certificate evaluates the primal loss; at most [[ResultLayout.MaxCandidates]]
 * @param gradient
 *   a step leads to minus the derivative of the loss; from 0 the update is the gradient of the losses, times -1 / l2
 */
final case class DualSubproblem(
    loss: Loss,
    l2: Double,
    intercept: Double,
    offset: Double,
    candidates: Array[Double],
    gradient: Boolean)
    extends Subproblem

/**
 * What every worker needs to know to run one round. The same object goes to all partitions; what differs between them
 * (data, state, stamp) is looked up by partition index.
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
 * @param threads
 *   threads of one call, 1 to 256. Each makes its steps on a copy of the shared vector, so that the result depends on
 *   their number (never on the cores there are); 1 in a batch
 * @param batch
 *   no step of the round sees another one; it ends with its epoch at the latest
 * @param stamps
 *   for each partition the stamp of the state that the driver's vector was built from
 * @param sigmaPrime
 *   CoCoA's subproblem parameter; the number of partitions is always safe
 * @param totalWeight
 *   sum of the row weights, S
 * @param theta1
 *   step factor for the pending direction of the previous round: 1 adds it, 0 rejects it
 * @param theta2
 *   step factor for the direction committed before that one
 * @param points
 *   where the line search wants samples: pairs (g1, g2), at most [[ResultLayout.MaxPoints]] of them
 * @param subproblem
 *   the local problem; its orientation is that of the data
 */
final case class RoundRequest(
    fit: Long,
    round: Long,
    seed: Long,
    budget: Double,
    certificate: Boolean,
    threads: Int,
    batch: Boolean,
    stamps: Array[Long],
    sigmaPrime: Double,
    totalWeight: Double,
    theta1: Double,
    theta2: Double,
    points: Array[Double],
    subproblem: Subproblem) {

  /** Coordinates that a partition of `numCoordinates` visits at least (whole buckets are visited). */
  def coordinates(numCoordinates: Int): Long = math.max(1L, math.ceil(numCoordinates * budget).toLong)
}

/**
 * State of one partition of one fit, as it travels when it is not kept by the worker: for the non-persistent mode,
 * for snapshots and for reading the coordinates at the end. Coordinates are coefficients of columns or dual variables of
 * rows.
 *
 * @param version
 *   round that the state is ready for
 * @param stamp
 *   which rebuild the state descends from, see [[WorkerState.Stamp]]; 0 at the start of the fit. Version and stamp
 *   together determine the rest.
 * @param cursor
 *   buckets visited since the start of the fit; places the partition in its coordinate order
 * @param alpha
 *   committed coordinates of the partition, in local order
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
  def zero(coordinates: Int): WorkerState =
    WorkerState(0L, 0L, 0L, new Array[Double](coordinates), new Array[Double](coordinates), None)

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
 * implementations produce the same bytes from the same input, so that a cluster may mix them. The dual of the logistic
 * loss is the exception: exponentials and logarithms of the two differ in their last bits.
 *
 * A call is a pure function of the committed state, the request and the shared vector: calling it again, on the same
 * worker or on another one that holds the same version, gives the same result and applies nothing twice.
 */
trait LocalSolver {

  /** "native" or "jvm". */
  def name: String

  /** Stochastic gradient descent by the same means. */
  def sgd: SgdSolver

  /**
   * Runs round `r.round` on a partition and keeps the proposed step as pending. The vector of the result is what the
   * step adds to the shared one: A (a' - a) for columns, and for rows the step of the coefficients before any soft
   * threshold.
   *
   * @param data
   *   of the orientation of `r.subproblem`
   * @param shared
   *   little-endian doubles, `8 * data.vectorLength` bytes: the residual for columns, the coefficients for rows
   * @param result
   *   filled in the layout of [[ResultLayout]], but for the slots from [[ResultLayout.FirstFreeSlot]] on; unspecified
   *   where the answer is false
   * @param cancellation
   *   asked every few milliseconds; true raises a CancellationException. The state is as before after any exception.
   * @return
   *   false if this worker has no state for the round (`StateLost`): the caller has to rebuild
   */
  def round(
      data: LocalData,
      r: RoundRequest,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Boolean

  /**
   * A rebuild: settles the step of the round before, drops the step of `r.round`, moves the state to version
   * `r.round + 1` under a new stamp, and returns the product of the partition's data with its coordinates. A worker
   * without a matching state starts again from zero; [[WorkerState.Stamp.isRestart]] of slot [[ResultLayout.Stamp]]
   * tells the caller which of the two happened. A repeated call finds the state moved already, and leaves it alone.
   *
   * @param result
   *   as for [[round]]
   * @return
   *   false if the fit has been freed meanwhile, or the state is of a later round
   */
  def product(data: LocalData, r: RoundRequest, result: Array[Byte], cancellation: Cancellation): Boolean

  /** Copy of the state of one partition; None where this worker has none. */
  def exportState(fit: Long, partition: Int): Option[WorkerState]

  /** Replaces the state of one partition. A pending step is not taken over: its round can be run again. */
  def importState(fit: Long, partition: Int, s: WorkerState): Unit

  /** Frees every state of a fit and refuses late tasks of it; returns the bytes freed. */
  def free(fit: Long): Long

  /** Frees states that no call has touched for longer than `maxAgeMillis`; returns the bytes freed. */
  def expire(maxAgeMillis: Long): Long

  /** Bytes of all states held by this worker process, and of what [[sgd]] remembers. */
  def stateBytes: Long

  /** Number of states held by this worker process, and of the partitions that [[sgd]] remembers. */
  def stateEntries: Long
}
