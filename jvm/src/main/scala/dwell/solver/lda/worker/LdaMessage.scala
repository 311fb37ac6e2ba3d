package dwell.solver.lda.worker

/** The request of one exchange. Numbers that differ between the workers are in arrays by partition. */
private[solver] sealed trait LdaCall extends Serializable {

  /** Number of documents of each partition, from its first on, whose bound the workers compute. */
  def sample: Array[Int]
}

/**
 * Steps on the next documents. The update is the topics after the steps, times the worker's share. The bound of the
 * sample is taken at the shared topics.
 *
 * @param common
 *   the request for all workers; its budget, cursor, share and sample are ignored
 * @param budgets
 *   documents that each partition visits; 0 for a partition without documents
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

  /** The request for partition `k`. */
  def of(k: Int): LdaRound =
    common.copy(budget = budgets(k), cursor = cursors(k), share = budgets(k).toDouble / all, sample = sample(k))
}

/** Only the bound of the sample. The update has no vector. */
private[solver] final case class BoundCall(override val sample: Array[Int]) extends LdaCall

/**
 * The message of one exchange. The topics travel with it.
 *
 * @param threads
 *   threads that one task may use
 */
private[solver] final case class LdaMessage(
    fit: Long,
    priors: LdaPriors,
    inference: Inference,
    threads: Int,
    call: LdaCall)

/**
 * A worker's reply, beside its vector.
 *
 * @param logThetaSums
 *   sum of E[log theta] over the documents visited, for each topic; empty unless asked for
 * @param bound
 *   bound of the worker's part of the sample
 * @param tokens
 *   tokens of the worker's part of the sample
 */
private[solver] final case class LdaReply(logThetaSums: Array[Double], bound: Double, tokens: Double)
