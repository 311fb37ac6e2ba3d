package dwell.solver.lda.leader

import dwell.fit.{Attempt, LostModels, ResultHeaders, Timeline}
import dwell.jni.LdaLayout

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
private[lda] final class LdaAveraging(workers: LdaWorkers, task: LdaTask, attempt: Attempt, timeline: Timeline) {
  private val problem = task.problem
  private val lost = new LostModels(problem.uid)

  /** The highest version that topics may have. */
  private var highest = -1L

  /** Runs all rounds. */
  def run(): TrainedTopics = {
    timeline.begin(Double.NaN, Double.NaN)
    lost.outlived(rounds(begin()))
  }

  private def rounds(from: LdaProgress): TrainedTopics = {
    var progress = from
    var next = task.pace.next(progress.seen)
    while (next.nonEmpty) {
      progress = made(progress, next.get)
      next = task.pace.next(progress.seen)
    }
    val objective = workers.objective(progress)
    TrainedTopics(workers.collect(progress), progress.alpha, objective, timeline.records)
  }

  private def made(progress: LdaProgress, planned: Long): LdaProgress = {
    val clock = System.nanoTime()
    val after = progress.after(task.budgets(planned))
    highest = after.version
    val documents = (after.seen - progress.seen).toDouble
    val what = s"${progress.rounds} rounds, ${progress.seen} documents"
    val replies = workers.round(progress, after, what)
    lost.roundMade()
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

  /**
   * Begins from the newest topics that the workers hold, of this attempt or an earlier one; without any from the start.
   */
  private def begin(): LdaProgress = {
    val found = workers.recover()
    highest = math.max(highest, found.fold(-1L)(_.version)) + 1L
    val progress = found match {
      case Some(recovered) => recovered.note.asInstanceOf[LdaProgress].copy(version = highest)
      case None => LdaProgress(highest, 0, new Array[Long](task.documents.length), problem.priors.alpha)
    }
    timeline.goOn(progress.rounds, attempt)
    found.fold(workers.begin(highest))(recovered => workers.distribute(highest, recovered.model, progress))
    progress
  }
}

private[lda] object LdaAveraging {

  /** Measured: averages become worse if the steps of a worker in a round sum to more than this. */
  private val FarSteps = 1.9
}
