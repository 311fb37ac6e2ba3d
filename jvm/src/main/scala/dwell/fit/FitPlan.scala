package dwell.fit

import dwell.base.SplitMix
import dwell.comm.Replicas
import dwell.comm.wire.{Numbers, VectorFormat}
import dwell.jni.ResultHeader
import dwell.record.RoundRecord

/**
 * One fit, in a form that can be sent to its leader.
 *
 * @tparam M
 *   message to the workers
 * @tparam S
 *   a worker's reply, beside its vector
 * @tparam T
 *   result of the rounds
 */
private[dwell] trait FitPlan[M, S, T] extends Serializable {

  /** Unique within the application. */
  def id: Long

  /** The part of the problem that [[FitRunner]] reads. */
  def problem: FitProblem

  /** Entries of the vectors that are exchanged. */
  def vectorLength: Int

  /** Type of these entries. */
  def numbers: Numbers = Numbers.Doubles

  /** Format of a worker's vector, with its header. */
  final def format: VectorFormat = VectorFormat(ResultHeader.BYTES, vectorLength, numbers)

  /** Whether the driver may receive the vectors of all workers where the user has not asked for driver mode. */
  def fitsDriver: Boolean = true

  /** Whether the leader expects at most one exchange, for which a gang is not worth its start. */
  def isBrief: Boolean = false

  /**
   * Identifies an attempt to run the rounds. Each attempt has worker states of its own, because the states of a failed
   * attempt may belong to different rounds.
   */
  final def attemptId(attempt: Int): Long = if (attempt == 0) id else SplitMix.mix(id + attempt)

  /** Runs the rounds, as their leader. A later attempt starts from what the earlier ones have left with the workers. */
  def lead(workers: Replicas[M, S], attempt: Attempt)(completed: RoundRecord => Unit): T
}
