package dwell.solver.cd.contract

import dwell.data.LocalData
import dwell.jni.Cancellation
import dwell.solver.problem.MarginLoss

/**
 * The local solver of coordinate descent. An implementation keeps one worker state per (fit, partition) and JVM. Both
 * implementations produce the same bytes from the same input, so that a cluster may mix them. The dual of the logistic
 * loss is the exception: the exponentials and logarithms of the two differ in their last bits.
 *
 * A call is a pure function of the committed state, the request and the shared vector. A second call, on the same
 * worker or on another one that holds the same version, gives the same result and applies nothing twice.
 */
trait CdSolver {

  /** "native" or "jvm". */
  def name: String

  /**
   * Runs round `r.round` on a partition and keeps the proposed step as pending. The vector of the result is the change
   * of the shared vector: A (a' - a) for columns, and for rows the step of the coefficients before any soft threshold.
   *
   * @param data
   *   of the orientation of `r.subproblem`
   * @param shared
   *   little-endian doubles, `8 * data.vectorLength` bytes: the residual for columns, the coefficients for rows
   * @param result
   *   filled in the layout of [[dwell.jni.CdLayout]], except the slots from [[dwell.jni.ResultHeader.FIRST_FREE]]
   *   on; unspecified where the answer is false
   * @param cancellation
   *   asked every few milliseconds; true raises a CancellationException. No exception changes the state.
   * @return
   *   false if this worker has no state for the round; the caller then has to rebuild
   */
  def round(
      data: LocalData,
      r: RoundRequest,
      shared: Array[Byte],
      result: Array[Byte],
      cancellation: Cancellation): Boolean

  /**
   * A rebuild: commits the step of the round before, drops the step of `r.round`, moves the state to version
   * `r.round + 1` under a new stamp, and returns the product of the partition's data with its coordinates. A worker
   * without a matching state starts again from zero; [[WorkerState.Stamp.isRestart]] of slot
   * [[dwell.jni.CdLayout.STAMP]] tells the caller whether it did. A repeated call leaves the moved state alone.
   *
   * @param result
   *   as for [[round]]
   * @return
   *   false if the fit has been freed meanwhile, or the state is of a later round
   */
  def product(data: LocalData, r: RoundRequest, result: Array[Byte], cancellation: Cancellation): Boolean

  /**
   * Runs an operation on a slice of rows. No state is involved, and both implementations give the same bits.
   *
   * @param loss
   *   with a finite curvature
   * @param threads
   *   threads that the call may use; they do not change the result
   * @return
   *   the operation's sums, by the slots of [[dwell.jni.MarginLayout]]
   */
  def margins(
      loss: MarginLoss,
      intercept: Double,
      operation: MarginOperation,
      slice: MarginSlice,
      threads: Int): Array[Double]

  /** A copy of the state of one partition; None if this worker has none. */
  def exportState(fit: Long, partition: Int): Option[WorkerState]

  /** Replaces the state of one partition. It ignores a pending step, whose round can be run again. */
  def importState(fit: Long, partition: Int, s: WorkerState): Unit

  /** Frees every state of a fit for good, so that its late tasks find none; returns the bytes freed. */
  def free(fit: Long): Long

  /** Frees states that no call has touched for longer than `maxAgeMillis`; returns the bytes freed. */
  def expire(maxAgeMillis: Long): Long

  /** Bytes of all states held by this worker process; the native solver counts those of every family. */
  def stateBytes: Long

  /** Number of states held by this worker process; the native solver counts those of every family. */
  def stateEntries: Long
}
