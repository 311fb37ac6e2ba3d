package dwell.solver.lda.contract

/** What the workers are asked in one exchange; what differs between them is by partition. */
private[solver] sealed trait LdaCall extends Serializable {

  /** Documents of each partition, from its first on, whose bound is asked for. */
  def sample: Array[Int]
}

/**
 * Steps on the next documents; the update is the topics reached, weighted. The bound of the sample is that of the
 * topics shared.
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
