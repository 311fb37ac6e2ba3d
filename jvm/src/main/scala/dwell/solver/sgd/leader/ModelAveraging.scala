package dwell.solver.sgd.leader

import org.apache.spark.internal.Logging

import dwell.base.LittleEndian
import dwell.fit.{Attempt, LostModels, ResultHeaders, Timeline}
import dwell.jni.SgdLayout
import dwell.solver.problem.StepSchedule
import dwell.solver.sgd.contract.{DescendCall, ModelNorms}

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
 */
private[sgd] final class ModelAveraging(workers: SgdWorkers, task: SgdTask, attempt: Attempt, timeline: Timeline)
    extends Logging {
  private val problem = task.problem
  private val settings = problem.descent
  private val epochs = problem.localWork.orElse(problem.algorithm.localWork).getOrElse(1.0)
  private val roundsOfEpoch = math.max(1, math.ceil(1.0 / epochs).toInt)

  /** The first step size, once it is known. Rounds that begin again from the start repeat the same steps with it. */
  private var firstStep = settings.stepSize

  /** The highest version that a model may have. */
  private var highest = -1L

  private val lost = new LostModels(problem.uid)

  /**
   * Runs the rounds.
   *
   * @param start
   *   the first model, and its objective
   * @param handOver
   *   whether to end when progress becomes slow, so that another algorithm can continue
   */
  def run(start: Reached, handOver: Boolean): Reached = lost.outlived(rounds(begin(start), handOver))

  private def rounds(from: AveragingProgress, handOver: Boolean): Reached = {
    var progress = from
    def ended: Boolean = progress.exhausted || (handOver && progress.slow)
    while (!ended && timeline.rounds < problem.maxRounds) {
      val clock = System.nanoTime()
      highest = progress.next
      val round = descend(progress)
      lost.roundMade()
      progress = progress.after(outcome(progress, round.headers), roundsOfEpoch, problem.tolerance)
      val begun = if (timeline.rounds == 0) f"first step size ${from.eta0}%.3g" else ""
      val note = Seq(begun, progress.note).filter(_.nonEmpty).mkString("; ")
      if (note.nonEmpty) logInfo(s"${problem.uid}: $note")
      timeline.add(progress.seen, Double.NaN, clock, round.addSeconds, epochs, round.headers, note = note)
    }
    Reached(workers.collect(progress.current), progress.objective, ended)
  }

  /**
   * Begins from the newest model that the workers hold, of this attempt or an earlier one; without one from `start`.
   */
  private def begin(start: Reached): AveragingProgress = workers.recover() match {
    case Some(found) =>
      highest = math.max(highest, found.version) + 1L
      val progress = found.note.asInstanceOf[AveragingProgress].from(highest)
      timeline.goOn(progress.rounds, attempt)
      workers.distribute(highest, found.model, Some(progress))
      progress
    case None =>
      highest += 1L
      timeline.goOn(0, attempt)
      workers.distribute(highest, LittleEndian.bytes(start.model), None)
      val search = new FirstStep(workers, task)
      if (firstStep.isEmpty) firstStep = Some(search.run(highest, searched))
      val models = task.facts.rowsPerPartition.count(_ > 0)
      val growth = if (settings.stepSize.isEmpty) Some(Growth(models * firstStep.get, search.largest)) else None
      AveragingProgress.start(start.objective, firstStep.get, growth, task.facts.rowsPerPartition.length).from(highest)
  }

  private def descend(progress: AveragingProgress): Averaged = {
    val decayed = progress.eta0 * math.pow(settings.decay, progress.rounds.toDouble)
    val call =
      DescendCall(schedule(decayed), epochs, progress.cursors, progress.steps, task.facts.shares)
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
      headers.slot(slot).zip(task.facts.shares).map { case (norm, share) => share * norm }.sum
    AveragedRound(
      headers.sum(SgdLayout.LOSS_SUM),
      headers.sum(SgdLayout.WEIGHT_SUM),
      math.max(
        ModelNorms.shared(headers).penalty(task.sgd),
        ModelNorms(averaged(SgdLayout.REACHED_L1_NORM), averaged(SgdLayout.REACHED_SQUARE_NORM)).penalty(task.sgd)),
      headers.largest(SgdLayout.DIVERGED) > 0.0,
      moved(SgdLayout.STEPS, progress.steps),
      moved(SgdLayout.CURSOR, progress.cursors))
  }

  /**
   * The schedule of the steps. By default they fall as fast as the curvature of the objective allows (Bottou), or,
   * without an L2 penalty, with the root of the time, counted in epochs.
   */
  private def schedule(eta0: Double): StepSchedule = kind match {
    case StepSchedule.Inverse if task.leastCurvature > 0.0 => StepSchedule(kind, eta0, task.leastCurvature)
    // This kind multiplies its rate by eta0.
    case StepSchedule.Inverse => StepSchedule(kind, eta0, byEpochs / eta0)
    case _ => StepSchedule(kind, eta0, byEpochs)
  }

  /** The schedule of a search over a sample, during which steps that fall by epochs hardly change. */
  private def searched: StepSchedule = kind match {
    case StepSchedule.Inverse => StepSchedule(kind, 1.0, task.leastCurvature)
    case _ => schedule(1.0)
  }

  private def kind: StepSchedule.Kind =
    settings.schedule.getOrElse(if (task.sgd.l2 > 0.0) StepSchedule.Inverse else StepSchedule.InverseSqrt)

  private def byEpochs: Double = 1.0 / task.facts.rowsPerPartition.max
}
