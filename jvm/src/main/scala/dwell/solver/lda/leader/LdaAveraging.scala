package dwell.solver.lda.leader

import dwell.fit.{Attempt, ResultHeaders, Timeline}
import dwell.jni.LdaLayout
import dwell.record.FitFacts
import dwell.solver.average.AveragedRounds

/**
 * Model averaging for topics (Guo et al., Model Averaging in Distributed Machine Learning, VLDB Journal 30, 2021,
 * algorithm 6). In every round each worker makes steps with mini-batches of its own documents, from the average of the
 * topics. The new average weighs the workers' topics by the documents visited. It is an average of the parameters
 * lambda, and all workers have started from the same ones. Topics therefore keep their identity, and one step of each
 * worker is one step on the batches of all.
 *
 * The objective of a round is minus the bound on the log likelihood of a fixed sample, per token, at the topics that
 * the round began with. It costs no exchange. It leaves out the topics' own part of the bound, which depends on the
 * size of the vocabulary and not on the sample.
 */
private[lda] final class LdaAveraging(workers: LdaWorkers, task: LdaTask, attempt: Attempt, timeline: Timeline)
    extends AveragedRounds[LdaProgress, TrainedTopics](workers, task.problem.uid, attempt, timeline) {
  private val problem = task.problem

  protected override def first(version: Long): LdaProgress = {
    workers.begin(version)
    LdaProgress(version, 0, new Array[Long](task.documents.length), problem.priors.alpha)
  }

  protected override def ended(progress: LdaProgress): Boolean = task.pace.next(progress.seen).isEmpty

  protected override def result(progress: LdaProgress): TrainedTopics = {
    val objective = workers.objective(progress)
    val facts = FitFacts(rounds = timeline.records, objective = objective, converged = true)
    TrainedTopics(workers.collected(progress.version), progress.alpha, facts)
  }

  protected override def round(progress: LdaProgress, clock: Long): LdaProgress = {
    val after = progress.after(task.budgets(task.pace.next(progress.seen).get))
    val documents = (after.seen - progress.seen).toDouble
    val what = s"${progress.rounds} rounds, ${progress.seen} documents"
    val replies = madeBy(workers.round(progress, after, what))
    timeline.add(
      replies.objective,
      Double.NaN,
      clock,
      replies.addSeconds,
      documents / task.corpus,
      replies.headers,
      note = note(after.seen, replies.headers))
    if (!problem.learnAlpha) after
    else {
      val rho = task.schedule.step(progress.seen.toDouble, documents, 1.0)
      after.copy(alpha = Concentration.newtonStep(progress.alpha, replies.logThetaSums, documents, rho))
    }
  }

  private def note(seen: Long, headers: ResultHeaders): String = {
    // Only the entries of words in the documents travel: the others follow from the topics before.
    val words = headers.largest(LdaLayout.WORDS).toLong
    val steps = headers.largest(LdaLayout.RHO_SUM)
    val remark =
      if (steps > LdaAveraging.FarSteps) {
        f", steps of $steps%.1f in all: workers drift apart; smaller subsamplingRate or larger learningOffset"
      } else ""
    s"$seen documents seen, a worker sends $words of ${task.vocabulary} words$remark"
  }
}

private[lda] object LdaAveraging {

  /** Measured: averages become worse if the steps of a worker in a round sum to more than this. */
  private val FarSteps = 1.9
}
