package dwell.solver.rows.leader

import dwell.base.LittleEndian
import dwell.fit.{Attempt, ResultHeaders, Timeline}
import dwell.jni.SgdLayout
import dwell.problem.StepSchedule
import dwell.solver.average.AveragedRounds
import dwell.solver.rows.worker.{DescendCall, ModelNorms}

/**
 * Model averaging (Guo et al., Model Averaging in Distributed Machine Learning, VLDB Journal 30, 2021). In every round
 * each worker runs stochastic gradient descent over its own rows, from the average of the models. The new average
 * weighs the workers' models by the weights of their rows.
 *
 * The objective of a round is the mean loss of the rows, each before its step, plus the penalty of
 * [[AveragedRound.penalty]]. It costs no pass over the data, and is not lower than on the way. Rounds of less than an
 * epoch are judged together, once they have covered one.
 *
 * A searched step grows with the epochs, see [[Growth]].
 *
 * Divergence never goes unnoticed. If the objective rises, the leader halves the step and goes back to the beginning of
 * that epoch, or, if the objective rises again at once, to the beginning of the epoch before. If epochs make no
 * progress, the leader halves the step too, because noise prevents progress. Training has converged when halvings have
 * no effect either.
 *
 * @param start
 *   the first model, and its objective
 */
private[rows] final class ModelAveraging(
    workers: SgdWorkers,
    task: RowTask,
    partitions: PartitionFacts,
    attempt: Attempt,
    timeline: Timeline,
    start: Reached)
    extends AveragedRounds[AveragingProgress, Reached](workers, task.problem.uid, attempt, timeline) {
  private val problem = task.problem
  private val threads = problem.settings.threads
  private val epochs = problem.localWork.getOrElse(1.0)
  private val roundsOfEpoch = math.max(1, math.ceil(1.0 / epochs).toInt)

  /** The first step size, once it is known. Rounds that begin again from the start repeat the same steps with it. */
  private var firstStep = problem.stepSize

  protected override def ended(progress: AveragingProgress): Boolean =
    progress.exhausted || timeline.rounds >= problem.maxRounds

  protected override def result(progress: AveragingProgress): Reached =
    Reached(workers.collect(progress.current), progress.objective, progress.exhausted)

  protected override def round(before: AveragingProgress, clock: Long): AveragingProgress = {
    val round = madeBy(descend(before))
    val progress = before.after(outcome(before, round.headers), roundsOfEpoch, problem.tolerance)
    val begun = if (timeline.rounds == 0) firstStep.fold("")(step => f"first step size $step%.3g") else ""
    val note = Seq(begun, progress.note).filter(_.nonEmpty).mkString("; ")
    if (note.nonEmpty) logInfo(s"${problem.uid}: $note")
    timeline.add(progress.seen, Double.NaN, clock, round.addSeconds, epochs, round.headers, note = note)
    progress
  }

  protected override def first(version: Long): AveragingProgress = {
    workers.distribute(version, LittleEndian.bytes(start.model), None)
    val search = new FirstStep(workers, task, partitions.meanSquareNorm)
    if (firstStep.isEmpty) firstStep = Some(search.run(version, schedule(1.0)))
    // Each thread of a worker has a model of its own.
    val models = threads * partitions.rows.count(_ > 0)
    val growth = if (problem.stepSize.isEmpty) Some(Growth(models * firstStep.get, search.largest)) else None
    AveragingProgress.start(start.objective, firstStep.get, growth, partitions.rows.length).from(version)
  }

  private def descend(progress: AveragingProgress): Averaged = {
    val call =
      DescendCall(schedule(progress.eta0), epochs, progress.cursors, progress.steps, partitions.shares, threads)
    val kept = Set(progress.begun, progress.before)
    val what = f"${timeline.rounds}%d rounds, objective ${progress.seen}%.6g"
    // The note stays with the model that this round produces, so it counts this round.
    val note = progress.copy(rounds = progress.rounds + 1)
    workers.average(call, progress.current, progress.next, kept, note, what)
  }

  private def outcome(progress: AveragingProgress, headers: ResultHeaders): AveragedRound = {
    // An empty partition reports 0 and keeps its place.
    def moved(slot: Int, before: Array[Long]): Array[Long] =
      headers.slot(slot).zip(before).map { case (now, earlier) => math.max(now.toLong, earlier) }
    // By convexity the penalty of the average is at most the average of the penalties.
    def averaged(slot: Int): Double =
      headers.slot(slot).zip(partitions.shares).map { case (norm, share) => share * norm }.sum
    AveragedRound(
      headers.sum(SgdLayout.LOSS_SUM),
      headers.sum(SgdLayout.WEIGHT_SUM),
      math.max(
        ModelNorms.shared(headers).penalty(task.objective),
        ModelNorms(averaged(SgdLayout.REACHED_L1_NORM), averaged(SgdLayout.REACHED_SQUARE_NORM))
          .penalty(task.objective)),
      headers.largest(SgdLayout.DIVERGED) > 0.0,
      moved(SgdLayout.STEPS, progress.steps),
      moved(SgdLayout.CURSOR, progress.cursors))
  }

  /**
   * The schedule of the steps. They fall as fast as the curvature of the objective allows (Bottou), or,
   * without an L2 penalty, with the root of the time, counted in epochs.
   */
  private def schedule(eta0: Double): StepSchedule =
    if (task.objective.penalty.l2 > 0.0) StepSchedule(StepSchedule.Inverse, eta0, task.leastCurvature)
    else StepSchedule(StepSchedule.InverseSqrt, eta0, 1.0 / partitions.rows.max)
}
