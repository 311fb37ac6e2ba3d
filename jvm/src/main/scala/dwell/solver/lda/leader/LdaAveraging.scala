package dwell.solver.lda.leader

import dwell.fit.{Attempt, LostModels, ResultHeaders, Timeline}
import dwell.jni.LdaLayout

/**
 * Model averaging for topics (Guo et al., Model Averaging in Distributed Machine Learning, VLDB Journal 30, 2021,
 * algorithm 6): in every round each worker goes on from the average of the topics with mini-batches of its own
 * documents, and the topics are averaged again, weighted by the documents visited. Averages are of the parameters
 * lambda, which all workers have started from: topics stay what they are, and one step of each worker is one step on
 * the batches of all.
 *
 * The objective of a round is minus the bound on the logarithm of the likelihood of a fixed sample, by token, at the
 * topics that the round began with: it costs no exchange. The topics' own part of the bound is left out, since it
 * depends on the size of the vocabulary and not on the sample.
 */
private[lda] final class LdaAveraging(workers: LdaWorkers, task: LdaTask, attempt: Attempt, timeline: Timeline) {
  private val problem = task.problem
  private val lost = new LostModels(problem.uid)

  /** The highest version that topics may have. */
  private var highest = -1L

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
    TrainedTopics(workers.collect(progress), progress.alpha, objective, workers.solvers, timeline.records)
  }

  private def made(progress: LdaProgress, round: LdaPace.Round): LdaProgress = {
    val clock = System.nanoTime()
    val after = progress.after(task.budgets(round.documents))
    highest = after.version
    val documents = (after.seen - progress.seen).toDouble
    val what = s"${progress.rounds} rounds, ${progress.seen} documents"
    val replies = workers.round(progress, after, round.warming, what)
    lost.roundMade()
    timeline.add(
      replies.objective,
      Double.NaN,
      clock,
      replies.addSeconds,
      documents / task.corpus,
      replies.headers,
      note = note(round, after.seen, replies.headers))
    if (!problem.learnAlpha) after
    else {
      val rho = task.schedule.step(progress.seen.toDouble, documents, 1.0)
      after.copy(alpha = Concentration.newtonStep(progress.alpha, replies.logThetaSums, documents, rho))
    }
  }

  private def note(round: LdaPace.Round, seen: Long, headers: ResultHeaders): String = {
    // Only entries of words that documents have travel: the others can be told from the topics before.
    val words = headers.largest(LdaLayout.WORDS).toLong
    val steps = headers.largest(LdaLayout.RHO_SUM)
    val remark =
      if (round.warming) ", warming up"
      else if (steps > LdaAveraging.FarSteps) {
        f", steps of $steps%.1f in all: workers drift apart; smaller subsamplingRate or larger learningOffset"
      } else ""
    s"$seen documents seen, a worker sends $words of ${task.vocabulary} words$remark"
  }

  /** From the newest topics that the workers hold, be it of this attempt or of an earlier one, or from the start. */
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

  /** Sum of a worker's steps in a round from which on the averages were seen to become worse. */
  private val FarSteps = 1.9
}
