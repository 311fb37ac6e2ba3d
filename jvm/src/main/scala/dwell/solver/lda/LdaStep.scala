package dwell.solver.lda

import dwell.comm.Contribution
import dwell.data.DocumentPartition
import dwell.jni.{Cancellation, LdaLayout}
import dwell.solver.{ResultLayout, SolverSelection, TaskCancellation}

/** What the workers are asked in one exchange; what differs between them is by partition. */
private[solver] sealed trait LdaCall extends Serializable

/**
 * Steps on the next documents; the update is the topics reached, weighted. The bound of the sample is that of the topics shared.
 *
 * @param common
 *   what all workers are asked; its budget, cursor and share are not read
 * @param budgets
 *   documents that each partition visits, 0 for those without documents
 * @param cursors
 *   documents that each partition has visited
 */
private[solver] final case class RoundCall(common: LdaRound, budgets: Array[Long], cursors: Array[Long])
    extends LdaCall {
  private val all = budgets.sum.toDouble

  /** What partition `k` is asked. */
  def of(k: Int): LdaRound =
    common.copy(budget = budgets(k), cursor = cursors(k), share = budgets(k).toDouble / all)
}

/** The bound of the sample alone; the update has no vector. */
private[solver] case object BoundCall extends LdaCall

/**
 * The message of one exchange. The topics go with it.
 *
 * @param sample
 *   documents of each partition, from its first on, whose bound is asked for
 */
private[solver] final case class LdaMessage(
    fit: Long,
    priors: LdaPriors,
    inference: Inference,
    sample: Array[Int],
    call: LdaCall)

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

/** The worker's half of an exchange, as it runs in a task. It keeps nothing: running it again gives the same. */
private[solver] object LdaStep {

  def apply(data: DocumentPartition, message: LdaMessage, shared: Array[Byte]): Contribution[LdaReply] = {
    // There is no other one: see LDA.
    val name = SolverSelection.native().name
    TaskCancellation(cancellation => by(NativeLda, name, data, message, shared, cancellation))
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
    val sampled = new Array[Byte](ResultLayout.HeaderBytes)
    val sample = message.sample(data.index)
    if (sample > 0) {
      val r = LdaBound(message.fit, message.priors, message.inference, first = 0, last = sample)
      solver.bound(data, r, shared, sampled, cancellation)
    }
    def reply(sums: Array[Double]): LdaReply =
      LdaReply(name, sums, ResultLayout.get(sampled, LdaLayout.BOUND), ResultLayout.get(sampled, LdaLayout.TOKENS))
    message.call match {
      case c: RoundCall if data.documents > 0 =>
        val (vocabulary, topics) = (data.vocabulary, message.priors.topics)
        val r = c.of(data.index)
        val result = new Array[Byte](LdaLayout.length(vocabulary, topics, r.concentration))
        solver.round(data, r, shared, result, cancellation)
        val nanos = LdaLayout.SOLVER_NANOS
        ResultLayout.put(result, nanos, ResultLayout.get(result, nanos) + ResultLayout.get(sampled, nanos))
        ResultLayout.put(result, ResultLayout.Started, started)
        // The topics: there is nothing else that a worker keeps.
        ResultLayout.put(result, ResultLayout.StateBytes, shared.length.toDouble)
        val factors = LdaResult.factors(result)
        if (r.concentration) {
          val sums = LdaResult.logThetaSums(result, vocabulary, topics)
          Contribution(LdaResult.withoutSums(result, vocabulary, topics), reply(sums), factors)
        } else Contribution(result, reply(Array.emptyDoubleArray), factors)
      case _ =>
        // A partition without documents has nothing to add.
        ResultLayout.put(sampled, ResultLayout.Started, started)
        Contribution(sampled, reply(Array.emptyDoubleArray))
    }
  }
}
