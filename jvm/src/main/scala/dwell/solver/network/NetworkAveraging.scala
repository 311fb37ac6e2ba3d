package dwell.solver.network

import dwell.base.LittleEndian
import dwell.fit.{Attempt, ResultHeaders, Timeline}
import dwell.solver.average.{AveragingProgress, DescentRounds, FirstStep, ModelWorkers}

/**
 * Model averaging of a network. Each worker makes steps by the mean gradients of mini-batches, all of one size in a
 * round, which falls by halves as [[DescentRounds]] says.
 *
 * Steps of a network are long at first, since hidden units with random weights hardly tell rows apart, and the loss
 * stands still for some epochs. A short sample then measures noise: of the searched steps that are about as good as the
 * best one, the longest is taken, and the objective may rise more than that of a convex problem.
 *
 * @param shares
 *   rows of each partition, relative to all
 * @param objective
 *   at the weights to start from
 */
private[network] final class NetworkAveraging(
    workers: ModelWorkers[NetworkMessage, Unit],
    problem: NetworkProblem,
    shares: Array[Double],
    attempt: Attempt,
    timeline: Timeline,
    objective: Double)
    extends DescentRounds[NetworkMessage, (Array[Double], Boolean)](
      workers,
      problem,
      attempt,
      timeline,
      NetworkAveraging.Rise) {
  import NetworkAveraging._

  private val steps = NetworkSteps(problem.layers, problem.seed, problem.batch, problem.settings.threads)

  /** The weights, and whether the rounds have converged. */
  protected override def result(progress: AveragingProgress): (Array[Double], Boolean) =
    (LittleEndian.doubles(workers.collected(progress.current)), progress.exhausted)

  protected override def first(version: Long): AveragingProgress = {
    workers.distribute(version, LittleEndian.bytes(problem.start), None)
    val step = firstStepOr(new FirstStep(Start, Double.MaxValue, Spread, Slack).run { candidates =>
      workers.search(NetworkSearch(steps, candidates, SampleRows), candidates.length, version)
    })
    AveragingProgress.start(objective, step, growth = None, shares.length).from(version)
  }

  protected override def descent(progress: AveragingProgress): NetworkMessage =
    NetworkDescent(steps, progress.eta0, epochs, progress.cursors, shares)

  protected override def penalty(headers: ResultHeaders): Double = 0.0
}

private object NetworkAveraging {

  /** A rise up to this comes from the noise of long steps while the loss stands still. */
  private val Rise = 0.1

  /** Where the search starts, which suits features of about 1, and its reach, by powers of 2. */
  private val Start = 1.0
  private val Spread = 4

  /** The noise of the losses of a sample. */
  private val Slack = 0.02

  /** Rows of each partition for a search. */
  private val SampleRows = 1000L
}
