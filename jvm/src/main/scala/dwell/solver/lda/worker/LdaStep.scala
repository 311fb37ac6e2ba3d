package dwell.solver.lda.worker

import dwell.comm.ModelStore
import dwell.comm.wire.Contribution
import dwell.data.documents.DocumentData
import dwell.jni.{Cancellation, LdaLayout, ResultHeader}
import dwell.spark.{NativeLibrary, TaskCancellation}

/**
 * The worker's part of an exchange. It runs in a task and keeps no state that matters, so a second run gives the same
 * result.
 */
private[solver] object LdaStep {

  /**
   * Runs the call of `message` on a partition with the native solver.
   *
   * @param shared
   *   the topics to start from, little endian
   * @throws dwell.jni.NativeUnavailableException
   *   if the library cannot load
   */
  def apply(data: DocumentData, message: LdaMessage, shared: Array[Byte]): Contribution[LdaReply] = {
    NativeLibrary.require()
    NativeLibrary.expire(ModelStore.AbandonedMillis)
    TaskCancellation(cancellation => by(NativeLda, data, message, shared, cancellation))
  }

  /** The same with any local solver. */
  private[lda] def by(
      solver: LdaSolver,
      data: DocumentData,
      message: LdaMessage,
      shared: Array[Byte],
      cancellation: Cancellation): Contribution[LdaReply] = {
    val started = ResultHeader.now()
    def reply(result: Array[Byte], sums: Array[Double]): LdaReply =
      LdaReply(sums, ResultHeader.get(result, LdaLayout.BOUND), ResultHeader.get(result, LdaLayout.BOUND_TOKENS))
    message.call match {
      case c: RoundCall if data.documents > 0 =>
        val (vocabulary, topics) = (data.vocabulary, message.priors.topics)
        val r = c.of(data.index)
        val result = new Array[Byte](LdaLayout.length(vocabulary, topics, r.concentration))
        solver.round(data, r, shared, result, cancellation)
        ResultHeader.put(result, ResultHeader.STARTED, started)
        // The topics, in memory that is kept for the next round, and a copy of the shared ones.
        ResultHeader.put(result, ResultHeader.STATE_BYTES, 2.0 * shared.length)
        val sums =
          if (r.concentration) LdaResult.logThetaSums(result, vocabulary, topics) else Array.emptyDoubleArray
        Contribution(result, reply(result, sums), LdaResult.factors(result))
      case call =>
        // A partition without documents adds nothing.
        val result = new Array[Byte](ResultHeader.BYTES)
        val sample = call.sample(data.index)
        if (sample > 0) {
          val r = LdaBound(message.fit, message.priors, message.inference, first = 0, last = sample, message.threads)
          solver.bound(data, r, shared, result, cancellation)
        }
        ResultHeader.put(result, ResultHeader.STARTED, started)
        Contribution(result, reply(result, Array.emptyDoubleArray))
    }
  }
}
