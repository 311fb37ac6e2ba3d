package dwell.fit

import dwell.jni.ResultHeader
import dwell.base.{SplitMix}
import dwell.comm.Replicas
import dwell.comm.wire.{Numbers, VectorFormat}
import dwell.report.RoundRecord

/**
 * One fit, in a form that can be sent to where its rounds are led from.
 *
 * @tparam M
 *   message to the workers
 * @tparam S
 *   what a worker answers beside its vector
 * @tparam T
 *   what the rounds lead to
 */
private[dwell] trait FitPlan[M, S, T] extends Serializable {

  /** Unique within the application. */
  def id: Long

  def problem: FitProblem

  /** Entries of the vectors that are exchanged. */
  def vectorLength: Int

  /** What they hold. */
  def numbers: Numbers = Numbers.Doubles

  final def format: VectorFormat = VectorFormat(ResultHeader.BYTES, vectorLength, numbers)

  /** Whether the vectors of all workers may come to the driver although nobody has asked for it. */
  def fitsDriver: Boolean = true

  /**
   * Identifies an attempt to make the rounds. Each has states of its own, since nobody knows how far those of the one
   * before it have come.
   */
  final def attemptId(attempt: Int): Long = if (attempt == 0) id else SplitMix.mix(id + attempt)

  /** Makes the rounds. A later attempt starts from what those before it have left with the workers. */
  def lead(workers: Replicas[M, S], attempt: Attempt)(completed: RoundRecord => Unit): T
}
