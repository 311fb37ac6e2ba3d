package dwell.solver.cd.leader

import org.apache.spark.internal.Logging

import dwell.comm.{Gathered, Workers}
import dwell.fit.{ResultHeaders, Timeline}
import dwell.jni.CdLayout
import dwell.record.RoundRecord
import dwell.solver.cd.step.LocalWork
import dwell.solver.cd.worker.{CdMessage, CdReply, CoordinateMessage, Phase, RoundRequest, StartingPoint, WorkerState}
import dwell.solver.linear.LinearProblem

/**
 * Runs the rounds of one fit (Smith et al. 2018, algorithm 1). It asks every worker for local steps, lets the
 * [[CdLeader]] of the orientation choose the step along their sum, certifies, and stops.
 *
 * [[WorkerState]] describes the exactly-once protocol of worker states. Each exchange has a number, and each state the
 * number of the exchange that it is ready for. A worker that does not hold the state that an exchange refers to reports
 * a loss, and the leader asks for a rebuild. Any coordinates are a feasible start of a convex problem, so a loss costs
 * progress but never correctness.
 *
 * @param workers
 *   the workers, in any mode of aggregation
 * @param fit
 *   identifier of the fit, unique within the application. Its states stay with the workers until they are freed
 * @param numWorkers
 *   number of partitions
 * @param completed
 *   called after each round
 * @param onTrial
 *   whether the rounds end if they do not get near the optimum at once
 * @param trial
 *   the rounds of another orientation, which these follow
 */
private[solver] final class RoundLoop(
    workers: Workers[CdMessage, CdReply],
    fit: Long,
    numWorkers: Int,
    leader: CdLeader,
    problem: LinearProblem,
    completed: RoundRecord => Unit,
    onTrial: Boolean = false,
    trial: Seq[RoundRecord] = Seq.empty)
    extends Logging {
  import RoundLoop._

  private val localWork = new LocalWork(problem.localWork, leader.mostLocalWork)

  /** Number of the next exchange, which is the version of the states that it refers to. */
  private var version = 0L

  /** Stamp of each partition's state, new with every rebuild. A worker ignores a state with another stamp. */
  private val stamps = new Array[Long](numWorkers)

  /** The verdict on the pending steps: step factors for them and for the steps before them. */
  private var verdict = Nothing

  /** The lower bound before these rounds. No objective is below 0. */
  private val known = trial.lastOption.fold(0.0)(last => last.objective - last.gap)

  /** Rounds before which the pace is not judged again. */
  private var judgedFrom = 0

  private val timeline = new Timeline(completed)

  /**
   * Solves the problem.
   *
   * @param from
   *   coordinates to start from; None for zero
   */
  def run(from: Option[StartingPoint]): Rounds = {
    from.foreach(point => rebuild(Phase.Start(point)))
    if (trial.isEmpty) timeline.begin(leader.upperBound, openGap) else timeline.follow(trial)
    var collected = Option.empty[Rebuilt]
    var allowed = problem.maxRounds
    var rounds = 0
    while (collected.isEmpty) {
      rounds = solve(rounds, allowed)
      if (leader.finishes || !converged) finish(moves = rounds > 0)
      verdict = leader.settle(verdict)
      // The result is computed from the coordinates, not from the shared vector that the rounds carried along.
      val last = rebuild(Phase.Collect)
      // Before the first round there was no state to lose: the coordinates are zero.
      if (last.lostNothing || rounds == 0) collected = Some(last)
      else {
        logWarning(s"${problem.uid}: a worker lost its state before it was read; continuing")
        allowed = rounds + problem.maxRounds
      }
    }
    Rounds(collected.get.coefficients, converged, failsTrial && !converged, timeline.records)
  }

  private def converged: Boolean = isWithin(problem.tolerance)
  private def ends: Boolean = isWithin(problem.aim)

  private def isWithin(tolerance: Double): Boolean =
    leader.converged(tolerance) || trial.nonEmpty && openGap <= tolerance * leader.upperBound

  private def mayHandOver: Boolean = problem.isAuto && !problem.loss.curvature.isInfinite
  private def pace: Pace = Pace(timeline.records.drop(trial.size), known)

  /**
   * Whether another method should take over at once: with badly scaled features, coordinate descent may take thousands of rounds. The
   * gap of the hinge falls slowly by any method.
   */
  private def isSlow: Boolean =
    mayHandOver && (failsTrial || ownRounds >= judgedFrom && pace.isSlow(aimed, left))

  private def failsTrial: Boolean = onTrial && ownRounds == Pace.TrialRounds && pace.failsTrial

  /** Whether the gap is forecast to close in fewer rounds than L-BFGS may take after `maxRounds`. */
  private def goesOn: Boolean = {
    mayHandOver && left > 0 && (problem.maxRounds < ownRounds && ownRounds < judgedFrom || pace.arrives(aimed, left))
  }

  /** The gap that the rounds aim at. */
  private def aimed: Double = problem.aim * leader.upperBound

  /** Rounds left of those that coordinate descent and L-BFGS may take together. */
  private def left: Int = 2 * problem.maxRounds - ownRounds

  private def ownRounds: Int = timeline.rounds - trial.lastOption.fold(0)(_.round)

  private def openGap: Double = math.max(0.0, leader.upperBound - math.max(known, leader.lowerBound))

  /** Runs rounds from round `first` on, until the stop rule holds or `allowed` are done; returns how many are done. */
  private def solve(first: Int, allowed: Int): Int = {
    var rounds = first
    var most = allowed
    var sinceRebuild = 0
    var losses = 0
    while ((rounds < most || goesOn) && !ends && !isSlow) {
      val lost = round(rounds, last = rounds >= most - 1, losses)
      if (lost > 0) {
        losses += lost
        logWarning(s"${problem.uid}: $lost of $numWorkers workers lost their state in round $rounds; rebuilding")
        rebuild(Phase.Rebuild)
        // The loss cost progress, not correctness. It must not use up the user's rounds.
        most = rounds + problem.maxRounds
      } else {
        rounds += 1
        sinceRebuild += 1
        losses = 0
        if (sinceRebuild >= RebuildEvery && (rounds < most || goesOn) && !ends) {
          rebuild(Phase.Rebuild)
          sinceRebuild = 0
          judgedFrom = ownRounds + SettlingRounds
        }
      }
    }
    rounds
  }

  /**
   * Runs a round.
   *
   * @param number
   *   of rounds before it
   * @param losses
   *   of workers' states since the last round
   * @return
   *   the number of workers that lost their state; the round then has not taken place
   */
  private def round(number: Int, last: Boolean, losses: Int): Int = {
    val epochs =
      if (onTrial && number < Pace.TrialRounds) Pace.TrialEpochs
      else if (leader.wholeEpochs) math.ceil(localWork.next)
      else localWork.next
    val certify = leader.certifies(number, epochs) || last
    val clock = System.nanoTime()
    val gathered = exchange(Phase.Round, epochs, certify, describe(number))
    val arrived = System.nanoTime()
    val lost = gathered.scalars.count(_.lost)
    if (lost == 0) {
      val headers = new ResultHeaders(gathered.headers)
      move(gathered, headers, certify, steps = true)
      val driver = gathered.addSeconds + (System.nanoTime() - arrived) * 1e-9
      val record = timeline.add(leader.upperBound, openGap, clock, driver, epochs, headers, losses)
      localWork.measure(record.seconds, record.workerSeconds, epochs, certify)
    }
    lost
  }

  /** Lets the leader certify, and step along the workers' update. */
  private def move(gathered: Gathered[CdReply], headers: ResultHeaders, certify: Boolean, steps: Boolean): Unit = {
    if (certify) leader.certify(headers)
    verdict = if (steps) leader.step(gathered.sum, headers) else Nothing
    version += 1
  }

  /**
   * Runs one extra round, of the kind that the orientation ends with, because the iterate of the last round has no
   * certificate yet.
   *
   * @param moves
   *   whether to take its step: a fit without any round returns its starting point
   */
  private def finish(moves: Boolean): Unit = {
    leader.finish()
    val gathered = exchange(Phase.Round, 1.0, certify = true, s"dwell ${problem.uid}: last round")
    if (!gathered.scalars.exists(_.lost)) {
      move(gathered, new ResultHeaders(gathered.headers), certify = true, steps = moves)
    }
  }

  /** Builds the shared vector anew from the coordinates that the workers hold. */
  private def rebuild(phase: Phase): Rebuilt = {
    // A worker fails to answer only if it loses its state during the call. Repeating the same rebuild is safe: it gives
    // the same answer on all other workers.
    val gathered = Iterator
      .continually(exchange(phase, 1.0, certify = false, s"dwell ${problem.uid}: ${phase.name}"))
      .take(RebuildAttempts)
      .find(!_.scalars.exists(_.lost))
      .getOrElse {
        throw new IllegalStateException(s"${problem.uid}: workers lose their state faster than it can be rebuilt")
      }
    val headers = new ResultHeaders(gathered.headers)
    val found = headers.slot(CdLayout.STAMP).map(_.toLong)
    val lostNothing = !found.exists(WorkerState.Stamp.isRestart)
    leader.restart(gathered.sum, headers, continues = lostNothing && phase.continues)
    System.arraycopy(found, 0, stamps, 0, numWorkers)
    version += 1
    verdict = Nothing // the rebuild dropped the pending steps
    Rebuilt(lostNothing, gathered.scalars.flatMap(_.coefficients))
  }

  private def exchange(phase: Phase, epochs: Double, certify: Boolean, description: String): Gathered[CdReply] = {
    val request = RoundRequest(
      fit = fit,
      round = version,
      seed = problem.seed,
      budget = epochs,
      certificate = certify,
      threads = problem.settings.threads,
      stamps = stamps.clone(),
      sigmaPrime = leader.sigmaPrime,
      totalWeight = leader.totalWeight,
      theta1 = verdict._1,
      theta2 = verdict._2,
      points = leader.points,
      subproblem = leader.subproblem)
    val shared = if (phase.reads) leader.shared else Array.emptyByteArray
    workers.exchange(CoordinateMessage(phase, request), shared, description)
  }

  private def describe(rounds: Int): String =
    Timeline.describe(problem.uid, rounds, leader.upperBound, openGap)
}

/**
 * The result of a fit's rounds, beside what the [[CdLeader]] holds.
 *
 * @param coefficients
 *   from each worker, feature ids and values of its nonzero coefficients
 * @param hasFailed
 *   whether they were a trial that did not get near the optimum
 */
private[solver] final case class Rounds(
    coefficients: Array[(Array[Int], Array[Double])],
    converged: Boolean,
    hasFailed: Boolean,
    records: Seq[RoundRecord])

private[solver] object RoundLoop {

  /** Rounds after which the leader builds the shared vector anew, against rounding drift. */
  private val RebuildEvery = 50

  /** Rounds after a rebuild, in which the last step is forgotten, until the gap falls as it did before. */
  private val SettlingRounds = 20

  private val RebuildAttempts = 5

  /** The verdict that takes no step. */
  private val Nothing = (0.0, 0.0)

  /** The result of a rebuild, beside the shared vector. */
  private final case class Rebuilt(lostNothing: Boolean, coefficients: Array[(Array[Int], Array[Double])])
}
