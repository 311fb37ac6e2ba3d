package dwell.solver.cd.leader

import scala.collection.mutable

import org.apache.spark.internal.Logging

import dwell.jni.CdLayout
import dwell.comm.{Gathered, Workers}
import dwell.fit.{ResultHeaders, Timeline}
import dwell.report.RoundRecord
import dwell.solver.cd.contract.{CdMessage, CdReply, Phase, RoundRequest, StartingPoint, WorkerState}
import dwell.solver.problem.LinearProblem

/**
 * The rounds of one fit (Smith et al. 2018, algorithm 1): asks every worker for local steps, lets the [[CdLeader]] of the
 * orientation choose how far to go along their sum, certifies, and stops.
 *
 * The exactly-once protocol of worker state is the one of [[WorkerState]]: each exchange has a number, states carry the
 * number they are at, and a worker that does not hold the state that an exchange refers to says so and is rebuilt. Any
 * coordinates are a feasible start of a convex problem, so a loss costs progress and never correctness.
 *
 * @param workers
 *   however messages to them travel
 * @param fit
 *   identifier of the fit, unique within the application. Its states stay with the workers until they are freed.
 * @param coordinates
 *   of each partition
 * @param completed
 *   called after each round
 */
private[solver] final class RoundLoop(
    workers: Workers[CdMessage, CdReply],
    fit: Long,
    coordinates: Array[Int],
    leader: CdLeader,
    problem: LinearProblem,
    completed: RoundRecord => Unit)
    extends Logging {
  import RoundLoop._

  private val numWorkers = coordinates.length
  private val localWork = {
    val asked = problem.localWork.orElse(problem.algorithm.localWork)
    // A batch has every coordinate once at most.
    if (problem.algorithm.batch) new LocalWork(asked.map(math.min(_, 1.0)), most = 1.0)
    else new LocalWork(asked, leader.mostLocalWork)
  }

  /** Number of the next exchange, and the states' version that it refers to. */
  private var version = 0L

  /** Stamp of each partition's state, new with every rebuild; a state with another stamp is not the one meant. */
  private val stamps = new Array[Long](numWorkers)

  /** The verdict on the pending steps: step factors for them and for the steps before them. */
  private var verdict = Nothing

  /** Where state travels: the committed states. */
  private var states: Array[WorkerState] =
    if (problem.settings.travellingState) coordinates.map(WorkerState.zero) else null

  private val solvers = mutable.SortedSet.empty[String]
  private val timeline = new Timeline(completed)

  /** Solves the problem. */
  def run(from: Option[StartingPoint]): Rounds = {
    from.foreach(point => rebuild(Phase.Start(point)))
    timeline.begin(leader.upperBound, openGap)
    var collected = Option.empty[Rebuilt]
    var allowed = problem.maxRounds
    var rounds = 0
    while (collected.isEmpty) {
      rounds = solve(rounds, allowed)
      if (leader.finishes || !converged) finish(moves = rounds > 0)
      verdict = leader.settle(verdict)
      // What is returned is computed from the coordinates, not from what was carried along.
      val last = rebuild(Phase.Collect)
      // Before the first round there was no state to lose: zero is what the coordinates are.
      if (last.lostNothing || rounds == 0) collected = Some(last)
      else {
        logWarning(s"${problem.uid}: a worker lost its state before it was read; continuing")
        allowed = rounds + problem.maxRounds
      }
    }
    Rounds(collected.get.coefficients, converged, solvers.mkString("+"), timeline.records)
  }

  private def converged: Boolean = leader.converged(problem.tolerance)

  private def openGap: Double = math.max(0.0, leader.upperBound - leader.lowerBound)

  /** Rounds until the stop rule holds or `allowed` are done, from round `first` on; returns how many were done. */
  private def solve(first: Int, allowed: Int): Int = {
    var rounds = first
    var most = allowed
    var sinceRebuild = 0
    var losses = 0
    while (rounds < most && !converged) {
      val epochs = if (leader.wholeEpochs) math.ceil(localWork.next) else localWork.next
      val certify = leader.certifies(rounds, epochs) || rounds == most - 1
      val clock = System.nanoTime()
      val gathered = exchange(Phase.Round, epochs, certify, describe(rounds))
      val arrived = System.nanoTime()
      val lost = gathered.scalars.count(_.lost)
      if (lost > 0) {
        losses += lost
        logWarning(s"${problem.uid}: $lost of $numWorkers workers lost their state in round $rounds; rebuilding")
        rebuild(Phase.Rebuild)
        // Progress was lost, not correctness: the rounds that it cost are not the user's.
        most = rounds + problem.maxRounds
      } else {
        val headers = new ResultHeaders(gathered.headers)
        if (certify) leader.certify(headers)
        verdict = leader.step(gathered.sum, headers)
        version += 1
        commitTravelling()
        rounds += 1
        sinceRebuild += 1
        val driver = gathered.addSeconds + (System.nanoTime() - arrived) * 1e-9
        val record = timeline.add(leader.upperBound, openGap, clock, driver, epochs, headers, losses)
        localWork.measure(record.seconds, record.workerSeconds, epochs, certify)
        logInfo(s"${problem.uid}: ${record.toLine}")
        losses = 0
        if (sinceRebuild == RebuildEvery && rounds < most && !converged) {
          rebuild(Phase.Rebuild)
          sinceRebuild = 0
        }
      }
    }
    rounds
  }

  /**
   * One more round than were asked for, of the kind that the orientation ends with: what the last round led to has not been
   * certified yet.
   *
   * @param moves
   *   whether its step is taken: a fit without any round returns what it started from
   */
  private def finish(moves: Boolean): Unit = {
    leader.finish()
    val gathered = exchange(Phase.Round, 1.0, certify = true, s"dwell ${problem.uid}: last round")
    if (!gathered.scalars.exists(_.lost)) {
      val headers = new ResultHeaders(gathered.headers)
      leader.certify(headers)
      verdict = if (moves) leader.step(gathered.sum, headers) else Nothing
      version += 1
      commitTravelling()
    }
  }

  /** Builds the shared vector anew from the coordinates that the workers hold. */
  private def rebuild(phase: Phase): Rebuilt = {
    def ask() = exchange(phase, 1.0, certify = false, s"dwell ${problem.uid}: ${phase.name}")
    // A worker cannot be without an answer here, except that its state went while it answered. Asking for the same rebuild
    // again gives the same of all the others.
    val gathered = Iterator.continually(ask()).take(RebuildAttempts).find(!_.scalars.exists(_.lost)).getOrElse {
      throw new IllegalStateException(s"${problem.uid}: workers lose their state faster than it can be rebuilt")
    }
    val headers = new ResultHeaders(gathered.headers)
    val found = headers.slot(CdLayout.STAMP).map(_.toLong)
    System.arraycopy(found, 0, stamps, 0, numWorkers)
    version += 1
    verdict = Nothing // nothing is pending any more
    val lostNothing = !found.exists(WorkerState.Stamp.isRestart)
    leader.restart(gathered.sum, headers, continues = lostNothing && phase.continues)
    Rebuilt(lostNothing, gathered.scalars.flatMap(_.coefficients))
  }

  private def exchange(phase: Phase, epochs: Double, certify: Boolean, description: String): Gathered[CdReply] = {
    val request = RoundRequest(
      fit = fit,
      round = version,
      seed = problem.seed,
      budget = epochs,
      certificate = certify,
      threads = if (problem.algorithm.batch) 1 else problem.settings.threads,
      batch = problem.algorithm.batch,
      stamps = stamps.clone(),
      sigmaPrime = leader.sigmaPrime,
      totalWeight = leader.totalWeight,
      theta1 = verdict._1,
      theta2 = verdict._2,
      points = leader.points,
      subproblem = leader.subproblem)
    val shared = if (phase == Phase.Round) leader.shared else Array.emptyByteArray
    val message = CdMessage(phase, request, states, problem.settings.selection)
    val gathered = workers.exchange(message, shared, description)
    solvers ++= gathered.scalars.map(_.solver)
    if (problem.settings.travellingState) {
      states = gathered.scalars.zip(states).map { case (r, old) => r.state.getOrElse(old) }
    }
    gathered
  }

  /** Where state travels the driver commits, with the same arithmetic as the workers' registries. */
  private def commitTravelling(): Unit =
    if (problem.settings.travellingState) states = states.map(_.commit(verdict._1, verdict._2))

  private def describe(rounds: Int): String =
    Timeline.describe(problem.uid, rounds, leader.upperBound, openGap)
}

/** What the rounds of a fit led to, beside what the [[CdLeader]] holds. */
private[solver] final case class Rounds(
    coefficients: Array[(Array[Int], Array[Double])],
    converged: Boolean,
    solver: String,
    records: Seq[RoundRecord])

private[solver] object RoundLoop {

  /** Against rounding drift the shared vector is built anew after so many rounds. */
  private val RebuildEvery = 50

  private val RebuildAttempts = 5

  /** The verdict on a step that is not to be taken. */
  private val Nothing = (0.0, 0.0)

  /** What an exchange of the committed coordinates brought beside the shared vector. */
  private final case class Rebuilt(lostNothing: Boolean, coefficients: Array[(Array[Int], Array[Double])])
}
