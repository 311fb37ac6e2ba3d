package dwell.solver.lda

import dwell.comm.{Contribution, ModelStore}
import dwell.data.DocumentPartition
import dwell.jni.{Cancellation, LdaLayout}
import dwell.solver.{ResultLayout, SolverSelection, TaskCancellation}

/** What the workers are asked in one exchange; what differs between them is by partition. */
private[solver] sealed trait LdaCall extends Serializable {

  /** Documents of each partition, from its first on, whose bound is asked for. */
  def sample: Array[Int]
}

/**
 * Steps on the next documents; the update is the topics reached, weighted. The bound of the sample is that of the topics shared.
 *
 * @param common
 *   what all workers are asked; its budget, cursor, share and sample are not read
 * @param budgets
 *   documents that each partition visits, 0 for those without documents
 * @param cursors
 *   documents that each partition has visited
 */
private[solver] final case class RoundCall(
    common: LdaRound,
    budgets: Array[Long],
    cursors: Array[Long],
    override val sample: Array[Int])
    extends LdaCall {
  private val all = budgets.sum.toDouble

  /** What partition `k` is asked. */
  def of(k: Int): LdaRound =
    common.copy(budget = budgets(k), cursor = cursors(k), share = budgets(k).toDouble / all, sample = sample(k))
}

/** The bound of the sample alone; the update has no vector. */
private[solver] final case class BoundCall(override val sample: Array[Int]) extends LdaCall

/** The message of one exchange. The topics go with it. */
private[solver] final case class LdaMessage(fit: Long, priors: LdaPriors, inference: Inference, call: LdaCall)

/**
 * What a worker says beside its vector.
 *
 * @param logThetaSums
 *   sum of E[log theta] over the documents visited, for each topic; empty unless asked for
 * @param bound
 *   of its part of the sample
 * @param tokens
 *   of its part of the sample
 */
private[solver] final case class LdaReply(solver: String, logThetaSums: Array[Double], bound: Double, tokens: Double)

/** The worker's half of an exchange, as it runs in a task. Nothing that matters is kept: running it again gives the same. */
private[solver] object LdaStep {

  def apply(data: DocumentPartition, message: LdaMessage, shared: Array[Byte]): Contribution[LdaReply] = {
    // There is no other one: see LDA.
    val native = SolverSelection.native()
    native.expire(ModelStore.AbandonedMillis)
    TaskCancellation(cancellation => by(NativeLda, native.name, data, message, shared, cancellation))
  }

  /** The same by any solver. */
  private[lda] def by(
      solver: LdaSolver,
      name: String,
      data: DocumentPartition,
      message: LdaMessage,
      shared: Array[Byte],
      cancellation: Cancellation): Contribution[LdaReply] = {
    val started = ResultLayout.now()
    def reply(result: Array[Byte], sums: Array[Double]): LdaReply =
      LdaReply(name, sums, ResultLayout.get(result, LdaLayout.BOUND), ResultLayout.get(result, LdaLayout.BOUND_TOKENS))
    message.call match {
      case c: RoundCall if data.documents > 0 =>
        val (vocabulary, topics) = (data.vocabulary, message.priors.topics)
        val r = c.of(data.index)
        val result = new Array[Byte](LdaLayout.length(vocabulary, topics, r.concentration))
        solver.round(data, r, shared, result, cancellation)
        ResultLayout.put(result, ResultLayout.Started, started)
        // The topics, and memory for as many, which is kept for the next round.
        ResultLayout.put(result, ResultLayout.StateBytes, 2.0 * shared.length)
        val sums =
          if (r.concentration) LdaResult.logThetaSums(result, vocabulary, topics) else Array.emptyDoubleArray
        Contribution(result, reply(result, sums), LdaResult.factors(result))
      case call =>
        // A partition without documents has nothing to add.
        val result = new Array[Byte](ResultLayout.HeaderBytes)
        val sample = call.sample(data.index)
        if (sample > 0) {
          val r = LdaBound(message.fit, message.priors, message.inference, first = 0, last = sample)
          solver.bound(data, r, shared, result, cancellation)
        }
        ResultLayout.put(result, ResultLayout.Started, started)
        Contribution(result, reply(result, Array.emptyDoubleArray))
    }
  }
}
