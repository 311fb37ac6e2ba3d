package dwell.solver.average

import dwell.fit.{Attempt, DescentProblem, ResultHeaders, Timeline}
import dwell.jni.SgdLayout

/**
 * Model averaging by local gradient descent (Guo et al., Model Averaging in Distributed Machine Learning, VLDB Journal
 * 30, 2021). In every round each worker descends over its own rows, from the average of the models. The new average
 * weighs the workers' models by the weights of their rows.
 *
 * The objective of a round is the mean loss of the rows, each before its step, plus a penalty. It costs no pass over the
 * data, and is not lower than on the way. Rounds of less than an epoch are judged together, once they have covered one.
 *
 * Divergence never goes unnoticed. If the objective rises, the leader halves the step and goes back to the beginning of
 * that epoch, or, if the objective rises again at once, to the beginning of the epoch before. If epochs make no
 * progress, the leader halves the step too, because noise prevents progress. Training has converged when halvings have
 * no effect either.
 *
 * @tparam M
 *   message to the workers, whose results have the slots of [[SgdLayout]]
 * @param rise
 *   relative increase of the objective up to which it may not be one
 */
private[solver] abstract class DescentRounds[M, R](
    workers: ModelWorkers[M, _],
    problem: DescentProblem,
    attempt: Attempt,
    timeline: Timeline,
    rise: Double)
    extends AveragedRounds[AveragingProgress, R](workers, problem.uid, attempt, timeline) {

  /** Passes over the local rows in a round. */
  protected final val epochs: Double = problem.localWork.getOrElse(1.0)

  private val roundsOfEpoch = math.max(1, math.ceil(1.0 / epochs).toInt)

  /** The first step size, once it is known. Rounds that begin again from the start repeat the same steps with it. */
  private var firstStep = problem.stepSize

  /** The message of the next round. */
  protected def descent(progress: AveragingProgress): M

  /** The penalty of a round, see [[AveragedRound]]. */
  protected def penalty(headers: ResultHeaders): Double

  /** The first step size, for which a search is made unless it is known. */
  protected final def firstStepOr(search: => Double): Double = {
    if (firstStep.isEmpty) firstStep = Some(search)
    firstStep.get
  }

  protected final override def ended(progress: AveragingProgress): Boolean =
    progress.exhausted || timeline.rounds >= problem.maxRounds

  protected final override def round(before: AveragingProgress, clock: Long): AveragingProgress = {
    val round = madeBy(averaged(before))
    val progress = before.after(outcome(before, round.headers), roundsOfEpoch, problem.tolerance, rise)
    val begun = if (timeline.rounds == 0) firstStep.fold("")(step => f"first step size $step%.3g") else ""
    val note = Seq(begun, progress.note).filter(_.nonEmpty).mkString("; ")
    if (note.nonEmpty) logInfo(s"${problem.uid}: $note")
    timeline.add(progress.seen, Double.NaN, clock, round.addSeconds, epochs, round.headers, note = note)
    progress
  }

  private def averaged(progress: AveragingProgress): Averaged = {
    val kept = Set(progress.begun, progress.before)
    val what = f"${timeline.rounds}%d rounds, objective ${progress.seen}%.6g"
    // The note stays with the model that this round produces, so it counts this round.
    val note = progress.copy(rounds = progress.rounds + 1)
    workers.average(descent(progress), progress.current, progress.next, kept, note, what)
  }

  private def outcome(progress: AveragingProgress, headers: ResultHeaders): AveragedRound = {
    // An empty partition reports 0 and keeps its place.
    def moved(slot: Int, before: Array[Long]): Array[Long] =
      headers.slot(slot).zip(before).map { case (now, earlier) => math.max(now.toLong, earlier) }
    AveragedRound(
      headers.sum(SgdLayout.LOSS_SUM),
      headers.sum(SgdLayout.WEIGHT_SUM),
      penalty(headers),
      headers.largest(SgdLayout.DIVERGED) > 0.0,
      moved(SgdLayout.STEPS, progress.steps),
      moved(SgdLayout.CURSOR, progress.cursors))
  }
}
