package dwell.solver.lda.leader

import dwell.comm.Replicas
import dwell.fit.ResultHeaders
import dwell.solver.average.ModelWorkers
import dwell.solver.lda.worker.{BoundCall, LdaCall, LdaMessage, LdaReply, LdaRound, RoundCall}

/**
 * The workers of a fit, for its leader. It turns calls into messages, and the workers' replies into sums.
 *
 * @param fit
 *   identifier of this attempt
 */
private[lda] final class LdaWorkers(workers: Replicas[LdaMessage, LdaReply], task: LdaTask, fit: Long)
    extends ModelWorkers(workers, task.problem.uid) {
  private val problem = task.problem

  /** Lets every worker generate the initial topics, as version `version`. */
  def begin(version: Long): Unit =
    workers.begin(
      version,
      InitialTopics(problem.priors.topics, task.vocabulary, problem.seed),
      described("initial topics"))

  /**
   * Lets every worker make steps from the topics of `from`. The average of their results becomes the topics of `to`.
   */
  def round(from: LdaProgress, to: LdaProgress, what: String): RoundReplies = {
    val budgets = to.cursors.indices.map(k => to.cursors(k) - from.cursors(k)).toArray
    val common = LdaRound(
      fit,
      problem.seed,
      from.priors(problem),
      problem.inference,
      task.schedule,
      task.corpus,
      task.workers,
      task.batch,
      budget = 0L,
      cursor = 0L,
      from.seen,
      problem.learnAlpha,
      share = 0.0,
      sample = 0,
      problem.settings.threads)
    val replies = workers.allReduce(
      message(from, RoundCall(common, budgets, from.cursors, task.sample)),
      from.version,
      to.version,
      Set.empty,
      Some(to),
      described(what))
    RoundReplies(
      new ResultHeaders(replies.headers),
      sampled(replies.scalars),
      sums(replies.scalars),
      replies.addSeconds)
  }

  /** Minus the bound of the sample, per token. */
  def objective(at: LdaProgress): Double = {
    val replies = workers.ask(message(at, BoundCall(task.sample)), at.version, described("bound of a sample"))
    sampled(replies.scalars)
  }

  private def message(at: LdaProgress, call: LdaCall): LdaMessage =
    LdaMessage(fit, at.priors(problem), problem.inference, problem.settings.threads, call)

  private def sampled(replies: Array[LdaReply]): Double = -replies.map(_.bound).sum / replies.map(_.tokens).sum

  /** The sums of E[log theta] over all partitions, added in their order. */
  private def sums(replies: Array[LdaReply]): Array[Double] =
    replies.map(_.logThetaSums).filter(_.nonEmpty).foldLeft(new Array[Double](problem.priors.topics)) { (sums, more) =>
      sums.indices.map(k => sums(k) + more(k)).toArray
    }
}

/**
 * The workers' reports of a round.
 *
 * @param objective
 *   minus the bound of the sample, per token, at the start of the round
 * @param logThetaSums
 *   for each topic, the sum of E[log theta] over the documents visited; 0 unless alpha is learned
 */
private[lda] final case class RoundReplies(
    headers: ResultHeaders,
    objective: Double,
    logThetaSums: Array[Double],
    addSeconds: Double)
