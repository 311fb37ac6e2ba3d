package dwell.solver.rows.leader

import dwell.base.LittleEndian
import dwell.fit.{Attempt, ResultHeaders, Timeline}
import dwell.jni.SgdLayout
import dwell.problem.StepSchedule
import dwell.solver.average.{AveragingProgress, DescentRounds, FirstStep, Growth, ModelWorkers}
import dwell.solver.rows.worker.{DescendCall, ModelNorms, SearchCall, SgdCall, SgdMessage}

/**
 * Model averaging of a linear model. The objective of a round has the penalty of
 * [[dwell.solver.average.AveragedRound.penalty]]. A searched step grows with the epochs, see [[Growth]].
 *
 * @param start
 *   the first model, and its objective
 */
private[rows] final class ModelAveraging(
    workers: ModelWorkers[SgdMessage, Unit],
    task: RowTask,
    partitions: PartitionFacts,
    attempt: Attempt,
    timeline: Timeline,
    start: Reached)
    extends DescentRounds[SgdMessage, Reached](workers, task.problem, attempt, timeline, AveragingProgress.Rise) {
  import ModelAveraging._

  private val problem = task.problem
  private val threads = problem.settings.threads

  /** The longest step: the penalty may shrink the coefficients, but must not reverse their signs. */
  private val largest = if (task.objective.penalty.l2 > 0.0) MostDecay / task.objective.penalty.l2 else Double.MaxValue

  protected override def result(progress: AveragingProgress): Reached =
    Reached(LittleEndian.doubles(workers.collected(progress.current)), progress.objective, progress.exhausted)

  protected override def first(version: Long): AveragingProgress = {
    workers.distribute(version, LittleEndian.bytes(start.model), None)
    val step = firstStepOr(searched(version))
    // Each thread of a worker has a model of its own.
    val models = threads * partitions.rows.count(_ > 0)
    val growth = if (problem.stepSize.isEmpty) Some(Growth(models * step, largest)) else None
    AveragingProgress.start(start.objective, step, growth, partitions.rows.length).from(version)
  }

  private def searched(from: Long): Double = {
    val curvature = math.min(task.objective.loss.curvature, SteepestCurvature)
    // With this step size a step cannot overshoot along a row of mean square norm.
    val start = 1.0 / (curvature * math.max(partitions.meanSquareNorm + 1.0, Double.MinPositiveValue))
    new FirstStep(start, largest, Spread, slack = 0.0).run { candidates =>
      workers.search(message(SearchCall(schedule(1.0), candidates, SampleRows)), candidates.length, from)
    }
  }

  protected override def descent(progress: AveragingProgress): SgdMessage =
    message(DescendCall(schedule(progress.eta0), epochs, progress.cursors, progress.steps, partitions.shares, threads))

  private def message(call: SgdCall): SgdMessage = SgdMessage(problem.seed, task.objective, call)

  protected override def penalty(headers: ResultHeaders): Double = {
    // By convexity the penalty of the average is at most the average of the penalties.
    def averaged(slot: Int): Double =
      headers.slot(slot).zip(partitions.shares).map { case (norm, share) => share * norm }.sum
    math.max(
      ModelNorms.shared(headers).penalty(task.objective),
      ModelNorms(averaged(SgdLayout.REACHED_L1_NORM), averaged(SgdLayout.REACHED_SQUARE_NORM)).penalty(task.objective))
  }

  /**
   * The schedule of the steps. They fall as fast as the curvature of the objective allows (Bottou), or,
   * without an L2 penalty, with the root of the time, counted in epochs.
   */
  private def schedule(eta0: Double): StepSchedule =
    if (task.objective.penalty.l2 > 0.0) StepSchedule(StepSchedule.Inverse, eta0, task.leastCurvature)
    else StepSchedule(StepSchedule.InverseSqrt, eta0, 1.0 / partitions.rows.max)
}

private object ModelAveraging {

  /** Candidates are 2^-8 to 2^8 times the middle. */
  private val Spread = 8

  /** Bottou's number. */
  private val SampleRows = 1000L

  private val MostDecay = 0.5

  /** Stands for the curvature bound of the hinge, which has none; it only decides where the search starts. */
  private val SteepestCurvature = 1.0
}
