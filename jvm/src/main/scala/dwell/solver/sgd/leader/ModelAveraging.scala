package dwell.solver.sgd.leader

import org.apache.spark.internal.Logging

import dwell.jni.SgdLayout
import dwell.comm.wire.Model
import dwell.fit.{Attempt, LostModels, ResultHeaders, Timeline}
import dwell.solver.problem.StepSchedule
import dwell.solver.sgd.contract.{DescendCall, ModelNorms}

/**
 * Model averaging (Guo et al., Model Averaging in Distributed Machine Learning, VLDB Journal 30, 2021): in every round
 * each worker goes on from the average of the models by stochastic gradient descent over its own rows, and the models
 * are averaged again, weighted by their rows.
 *
 * The objective of a round is that of the rows as the workers met them, before their steps, and the larger of the
 * penalties of the models that they started from and reached: it costs no pass over the data, and is not less than on
 * the way. Rounds of less than an epoch are judged together, once they have covered one.
 *
 * A step that was searched grows with the epochs, see [[Growth]].
 *
 * Nothing diverges without notice: where the objective rises the step is halved, and the rounds go on from where the
 * risen epoch began, or, if it rises there again at once, from where the epoch before that began. Where there is no
 * progress to speak of, the step is halved as well: noise stands in its way. Training has converged when that does not
 * change anything either.
 */
private[sgd] final class ModelAveraging(workers: SgdWorkers, task: SgdTask, attempt: Attempt, timeline: Timeline)
    extends Logging {
  private val problem = task.problem
  private val settings = problem.descent
  private val epochs = problem.localWork.orElse(problem.algorithm.localWork).getOrElse(1.0)
  private val roundsOfEpoch = math.max(1, math.ceil(1.0 / epochs).toInt)

  /** The first step size, once it is known: rounds that begin from the start again are the same again. */
  private var firstStep = settings.stepSize

  /** The highest version that a model may have. */
  private var highest = -1L

  private val lost = new LostModels(problem.uid)

  /**
   * @param start
   *   what to start from, and its objective
   * @param handOver
   *   whether to end where progress becomes slow, rather than where there is none
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

  /** From the newest model that the workers hold, be it of this attempt or of an earlier one, or from the start. */
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
      workers.distribute(highest, Model.bytes(start.model), None)
      val search = new FirstStep(workers, task)
      if (firstStep.isEmpty) firstStep = Some(search.run(highest, searched))
      val models = task.facts.rowsPerPartition.count(_ > 0)
      val growth = if (settings.stepSize.isEmpty) Some(Growth(models * firstStep.get, search.largest)) else None
      AveragingProgress.start(start.objective, firstStep.get, growth, task.facts.rowsPerPartition.length).from(highest)
  }

  private def descend(progress: AveragingProgress): Averaged = {
    val decayed = progress.eta0 * math.pow(settings.decay, progress.rounds.toDouble)
    val call =
      DescendCall(schedule(decayed), epochs, progress.cursors, progress.steps, settings.running, task.facts.shares)
    val kept = Set(progress.begun, progress.before)
    val what = f"${timeline.rounds}%d rounds, objective ${progress.seen}%.6g"
    // Whoever finds the note finds the model that this round makes.
    val note = progress.copy(rounds = progress.rounds + 1)
    workers.average(call, progress.current, progress.next, kept, note, what)
  }

  private def outcome(progress: AveragingProgress, headers: ResultHeaders): AveragedRound = {
    // An empty partition says nothing, and needs no place.
    def moved(slot: Int, before: Array[Long]): Array[Long] =
      headers.slot(slot).zip(before).map { case (now, earlier) => math.max(now.toLong, earlier) }
    // The average of the models has no larger penalty than the average of their penalties.
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
   * By default as fast as the objective's curvature allows (Bottou), and without it with the root of the time, counted
   * in epochs.
   */
  private def schedule(eta0: Double): StepSchedule = kind match {
    case StepSchedule.Inverse if task.leastCurvature > 0.0 => StepSchedule(kind, eta0, task.leastCurvature)
    // The rate of this kind counts in units of the step.
    case StepSchedule.Inverse => StepSchedule(kind, eta0, byEpochs / eta0)
    case _ => StepSchedule(kind, eta0, byEpochs)
  }

  /** For any of several first steps, over a sample, in which those that get shorter by epochs hardly do. */
  private def searched: StepSchedule = kind match {
    case StepSchedule.Inverse => StepSchedule(kind, 1.0, task.leastCurvature)
    case _ => schedule(1.0)
  }

  private def kind: StepSchedule.Kind =
    settings.schedule.getOrElse(if (task.sgd.l2 > 0.0) StepSchedule.Inverse else StepSchedule.InverseSqrt)

  private def byEpochs: Double = 1.0 / task.facts.rowsPerPartition.max
}
