package dwell.solver.sgd

import org.apache.spark.internal.Logging

import dwell.comm.ModelLostException
import dwell.solver.{Headers, Timeline}

/**
 * Model averaging (Guo et al., Model Averaging in Distributed Machine Learning, VLDB Journal 30, 2021): in every round each
 * worker goes on from the average of the models by stochastic gradient descent over its own rows, and the models are
 * averaged again, weighted by their rows.
 *
 * The objective of a round is that of the rows as the workers met them, before their steps, and of the penalty half-way between
 * the models that they started from and reached: it costs no pass over the data. Rounds of less than an epoch are judged
 * together, once they have covered one.
 *
 * Nothing diverges without notice: where the objective rises the step is halved, and the rounds go on from where the risen epoch
 * began, or, if it rises there again at once, from where the epoch before that began. Where there is no progress to speak
 * of, the step is halved as well: noise stands in its way. Training has converged when that does not change anything either.
 */
private[sgd] final class ModelAveraging(workers: GradientWorkers, plan: GradientPlan, timeline: Timeline)
    extends Logging {

  private val problem = plan.problem
  private val settings = problem.descent
  private val epochs = problem.localWork.orElse(problem.algorithm.localWork).getOrElse(1.0)
  private val roundsOfEpoch = math.max(1, math.ceil(1.0 / epochs).toInt)

  /**
   * @param start
   *   what to start from, and its objective
   * @param handOver
   *   whether to end where progress becomes slow, rather than where there is none
   */
  def run(start: Reached, handOver: Boolean): Reached = {
    var progress = begin(start)
    def ended: Boolean = progress.exhausted || (handOver && progress.slow)
    def round(): Unit = {
      val clock = System.nanoTime()
      val round = descend(progress)
      progress = progress.after(outcome(progress, round.headers), roundsOfEpoch, problem.tolerance)
      if (progress.note.nonEmpty) logInfo(s"${problem.uid}: ${progress.note}")
      timeline.add(progress.seen, Double.NaN, clock, round.addSeconds, epochs, round.headers, note = progress.note)
    }
    var reached = Option.empty[Array[Double]]
    while (reached.isEmpty) {
      try {
        while (!ended && timeline.rounds < problem.maxRounds) round()
        reached = Some(workers.collect(progress.current))
      } catch {
        case e: ModelLostException =>
          logWarning(s"${problem.uid}: ${e.getMessage}; the rounds go on from what is left")
          progress = regain(progress, start)
      }
    }
    Reached(reached.get, progress.objective, ended)
  }

  /** From the newest model that is left, or from the start again. */
  private def regain(lost: Progress, start: Reached): Progress = {
    // Versions rise, and the one that was to be made may have been.
    val version = lost.next + 1L
    val (model, progress) = workers.recover() match {
      case Some(found) => (found.model, found.note.asInstanceOf[Progress])
      case None => (start.model, Progress.start(start.objective, lost.eta0, plan.facts.rowsPerPartition.length))
    }
    workers.distribute(version, model, Some(progress))
    progress.from(version)
  }

  /** Where a new fit begins, or an attempt at one that has lost its workers goes on. */
  private def begin(start: Reached): Progress = workers.recover() match {
    case Some(found) =>
      val progress = found.note.asInstanceOf[Progress].from(found.version + 1L)
      workers.distribute(progress.current, found.model, Some(progress))
      progress
    case None =>
      workers.distribute(0L, start.model, None)
      settings.stepSize.foreach { step =>
        require(
          step * plan.sgd.l2 < 1.0,
          s"stepSize = $step: times the L2 penalty, ${plan.sgd.l2}, it must be less than 1, or a step would turn the " +
            "coefficients round")
      }
      val eta0 = settings.stepSize.getOrElse(new FirstStep(workers, plan).run(0L, schedule(1.0)))
      logInfo(s"${problem.uid}: first step size $eta0")
      Progress.start(start.objective, eta0, plan.facts.rowsPerPartition.length)
  }

  private def descend(progress: Progress): Averaged = {
    // Versions count the rounds, and those of earlier attempts as well.
    val decayed = progress.eta0 * math.pow(settings.decay, progress.next - 1.0)
    val call =
      DescendCall(schedule(decayed), epochs, progress.cursors, progress.steps, settings.running, plan.facts.shares)
    val kept = Set(progress.begun, progress.before)
    val what = f"${timeline.rounds}%d rounds, objective ${progress.seen}%.6g"
    workers.average(call, progress.current, progress.next, kept, progress, what)
  }

  private def outcome(progress: Progress, headers: Headers): RoundOutcome = {
    // An empty partition says nothing, and needs no place.
    def moved(slot: Int, before: Array[Long]): Array[Long] =
      headers.slot(slot).zip(before).map { case (now, earlier) => math.max(now.toLong, earlier) }
    // The average of the models has no larger penalty than the average of their penalties.
    def averaged(slot: Int): Double =
      headers.slot(slot).zip(plan.facts.shares).map { case (norm, share) => share * norm }.sum
    RoundOutcome(
      headers.sum(SgdLayout.LossSum),
      headers.sum(SgdLayout.WeightSum),
      0.5 * (ModelNorms.shared(headers).penalty(plan.sgd) +
        ModelNorms(averaged(SgdLayout.ReachedL1Norm), averaged(SgdLayout.ReachedSquareNorm)).penalty(plan.sgd)),
      headers.largest(SgdLayout.Diverged) > 0.0,
      moved(SgdLayout.Steps, progress.steps),
      moved(SgdLayout.Cursor, progress.cursors))
  }

  /** By default as fast as the penalty allows (Bottou), and without it with the root of the time, counted in epochs. */
  private def schedule(eta0: Double): StepSchedule = {
    val byEpochs = 1.0 / plan.facts.rowsPerPartition.max
    settings.schedule.getOrElse(if (plan.sgd.l2 > 0.0) StepSchedule.Inverse else StepSchedule.InverseSqrt) match {
      case StepSchedule.Inverse if plan.sgd.l2 > 0.0 => StepSchedule(StepSchedule.Inverse, eta0, plan.sgd.l2)
      // The rate of this kind counts in units of the step.
      case StepSchedule.Inverse => StepSchedule(StepSchedule.Inverse, eta0, byEpochs / eta0)
      case kind => StepSchedule(kind, eta0, byEpochs)
    }
  }
}
