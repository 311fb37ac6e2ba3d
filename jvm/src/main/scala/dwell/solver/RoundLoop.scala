package dwell.solver

import java.nio.{ByteBuffer, ByteOrder}
import java.util.UUID

import scala.collection.mutable
import scala.concurrent.duration._

import org.apache.spark.{DwellBridge, SparkContext}
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.internal.Logging

import dwell.comm.{Contribution, DriverMode, Gathered, OnExecutors}
import dwell.data.{FlatDataset, ColumnPartition, TaskFailure}
import dwell.report.{RoundCompleted, RoundRecord}

/**
 * What primal CoCoA is to solve, and how long.
 *
 * @param l1
 *   weight of |a|_1, before scaling by the features' deviations
 * @param l2
 *   weight of |a|_2^2 / 2, before scaling
 * @param scaleFactor
 *   0: penalties apply to the coefficients as they are. Otherwise they apply to coefficient times deviation, and this is
 *   the factor from population variance to the variance that is meant (1, or that of the sample)
 * @param centred
 *   whether there is an intercept, which is then minimised exactly
 * @param tolerance
 *   stop at this bound of the relative suboptimality; without a penalty, where no bound exists, at this largest
 *   correlation of a feature with the residual
 * @param localWork
 *   epochs over the local coordinates in each round
 * @param travellingState
 *   worker state travels with every round instead of staying with the worker
 */
final case class PrimalProblem(
    uid: String,
    l1: Double,
    l2: Double,
    scaleFactor: Double,
    centred: Boolean,
    tolerance: Double,
    maxRounds: Int,
    localWork: Double,
    seed: Long,
    threads: Int,
    travellingState: Boolean,
    selection: SolverSelection)

/**
 * @param coefficients
 *   one for each feature
 * @param intercept
 *   0 without an intercept
 * @param history
 *   objective at the start and after each round
 */
final case class PrimalSolution(
    coefficients: Array[Double],
    intercept: Double,
    objective: Double,
    gap: Double,
    converged: Boolean,
    drift: Double,
    solver: String,
    rounds: Seq[RoundRecord])

/**
 * CoCoA with adding (gamma = 1, sigma' = K; Smith et al. 2018, algorithm 1) on column partitions: asks every worker for
 * local steps, adds the updates, certifies, and stops. The exactly-once protocol of worker state is the one of
 * [[WorkerState]]: each exchange has a number, states carry the number they are at, and a worker that does not hold the
 * state that an exchange refers to says so and is rebuilt. Any coordinates are a feasible start of a convex problem, so a
 * loss costs progress and never correctness.
 */
final class RoundLoop(sc: SparkContext, data: FlatDataset, problem: PrimalProblem) extends Logging {
  import RoundLoop._

  private val fit: Long = UUID.randomUUID().getMostSignificantBits
  private val workers = data.numPartitions
  private val target = {
    val mean = if (problem.centred) data.labelMean else 0.0
    data.labels.map(_ - mean)
  }
  private val master = new PrimalMaster(target, data.weights, data.totalWeight, problem.centred)

  /** Number of the next exchange, and the states' version that it refers to. */
  private var version = 0L

  /** Stamp of each partition's state, new with every rebuild; a state with another stamp is not the one meant. */
  private val stamps = new Array[Long](workers)

  /** Where state travels: the committed states. */
  private var states: Array[WorkerState] =
    if (problem.travellingState) data.columnsPerPartition.map(WorkerState.zero) else null

  private val solvers = mutable.SortedSet.empty[String]

  /** Solves the problem; worker state is freed in any case. */
  def run(): PrimalSolution =
    try solve()
    finally {
      val key = fit
      OnExecutors.run(sc, CleanUpLimit, "dwell: free worker state")(() => SolverSelection.loaded.foreach(_.free(key)))
    }

  private def solve(): PrimalSolution = {
    val start = master.loss
    var objective = start
    var lowerBound = 0.0 // loss and penalties are nonnegative
    var correlation = Double.PositiveInfinity
    val records = mutable.ArrayBuffer(RoundRecord(0, objective, objective, 0.0, 0.0, 0.0, 0.0, 0.0, 0L, 0))
    val penalised = problem.l1 > 0.0 || problem.l2 > 0.0
    def converged: Boolean =
      if (penalised) objective - lowerBound <= problem.tolerance * objective
      else correlation <= problem.tolerance || objective <= PerfectFit * start

    var last: Option[PrimalSolution] = None
    var allowed = problem.maxRounds
    var sinceRebuild = 0
    var rounds = 0
    while (last.isEmpty) {
      var losses = 0
      while (rounds < allowed && !converged) {
        val certify = problem.localWork >= CertifyEveryRoundFrom || rounds % 2 == 0 || rounds == allowed - 1
        val clock = System.nanoTime()
        val gathered = exchange(Phase.Round, certify, describe(rounds, objective, objective - lowerBound))
        val arrived = System.nanoTime()
        val lost = gathered.scalars.count(_.lost)
        if (lost > 0) {
          losses += lost
          logWarning(s"${problem.uid}: $lost of $workers workers lost their state in round $rounds; rebuilding")
          objective = rebuild(Phase.Rebuild)._1
          // Progress was lost, not correctness: the rounds that it cost are not the user's.
          allowed = rounds + problem.maxRounds
        } else {
          def slot(i: Int): Array[Double] = gathered.headers.map(ResultLayout.get(_, i))
          if (certify) {
            lowerBound = math.max(
              lowerBound,
              master.dual(slot(ResultLayout.Conjugate).sum, slot(ResultLayout.Ratio).maxOption.getOrElse(0.0)))
            correlation = largest(slot(ResultLayout.Correlation)) / math.sqrt(2.0 * master.loss)
          }
          master.step(gathered.sum)
          val next = master.loss + slot(ResultLayout.PenaltyAfter).sum
          if (!(next <= objective * (1.0 + RiseTolerance) + RiseTolerance * start)) {
            throw new IllegalStateException(
              s"${problem.uid}: the objective rose from $objective to $next in round $rounds, which the algorithm " +
                "cannot do: the workers' state does not belong to this residual. Please report this.")
          }
          objective = next
          version += 1
          commitTravelling()
          rounds += 1
          sinceRebuild += 1
          val driver = gathered.addSeconds + seconds(arrived)
          val wall = seconds(clock)
          val worker = largest(slot(ResultLayout.SolverNanos)) * 1e-9
          records += RoundRecord(
            rounds,
            objective,
            math.max(0.0, objective - lowerBound), // at the optimum the difference is rounding, of either sign
            wall,
            worker,
            math.max(0.0, wall - worker - driver),
            driver,
            problem.localWork,
            slot(ResultLayout.StateBytes).sum.toLong,
            losses)
          losses = 0
          DwellBridge.post(sc, RoundCompleted(problem.uid, records.last))
          logInfo(s"${problem.uid}: ${records.last.toLine}")
          if (sinceRebuild == RebuildEvery && rounds < allowed && !converged) {
            objective = rebuild(Phase.Rebuild)._1
            sinceRebuild = 0
          }
        }
      }
      // The returned model's objective is computed from its coefficients, not from what was carried along.
      val carried = objective
      val (exact, collected) = rebuild(Phase.Collect)
      objective = exact
      // Before the first round there was no state to lose: zero is what the coefficients are.
      if (collected.lostNothing || rounds == 0) {
        last = Some(solution(collected, exact, exact - lowerBound, carried, start, converged, records.toSeq))
      } else {
        logWarning(s"${problem.uid}: a worker lost its state before its coefficients were read; continuing")
        allowed = rounds + problem.maxRounds
      }
    }
    last.get
  }

  private def solution(
      collected: Rebuilt,
      objective: Double,
      gap: Double,
      carried: Double,
      start: Double,
      converged: Boolean,
      rounds: Seq[RoundRecord]): PrimalSolution = {
    if (gap < -RiseTolerance * start) {
      throw new IllegalStateException(
        s"${problem.uid}: the duality gap is $gap, and no gap can be negative: the workers' state is corrupt. Please " +
          "report this.")
    }
    val coefficients = new Array[Double](data.numFeatures)
    collected.coefficients.foreach { case (features, values) =>
      features.indices.foreach(i => coefficients(features(i)) = values(i))
    }
    PrimalSolution(
      coefficients,
      if (problem.centred) data.labelMean - collected.kappa else 0.0,
      objective,
      math.max(gap, 0.0),
      converged,
      if (objective == carried) 0.0 else math.abs(objective - carried) / math.max(objective, carried),
      solvers.mkString("+"),
      rounds)
  }

  /** Builds the residual anew from the coordinates that the workers hold; returns the exact objective. */
  private def rebuild(phase: Phase): (Double, Rebuilt) = {
    def ask() = exchange(phase, certify = false, s"dwell ${problem.uid}: ${phase.toString.toLowerCase}")
    // A worker cannot be without an answer here, except that its state went while it answered. Asking for the same rebuild
    // again gives the same of all the others.
    val gathered = Iterator.continually(ask()).take(RebuildAttempts).find(!_.scalars.exists(_.lost)).getOrElse {
      throw new IllegalStateException(s"${problem.uid}: workers lose their state faster than it can be rebuilt")
    }
    def slot(i: Int): Array[Double] = gathered.headers.map(ResultLayout.get(_, i))
    val found = slot(ResultLayout.Stamp).map(_.toLong)
    val lostNothing = !found.exists(WorkerState.Stamp.isRestart)
    System.arraycopy(found, 0, stamps, 0, workers)
    version += 1
    master.restart(gathered.sum)
    val penalty = slot(ResultLayout.PenaltyBefore).sum
    val kappa = slot(ResultLayout.Kappa).sum
    (master.loss + penalty, Rebuilt(lostNothing, kappa, gathered.scalars.flatMap(_.coefficients)))
  }

  private def exchange(phase: Phase, certify: Boolean, description: String): Gathered[WorkerReply] = {
    val request = RoundRequest(
      fit = fit,
      round = version,
      seed = problem.seed,
      budget = problem.localWork,
      certificate = certify,
      centred = problem.centred,
      threads = problem.threads,
      stamps = stamps.clone(),
      sigmaPrime = workers.toDouble,
      l1 = problem.l1,
      l2 = problem.l2,
      totalWeight = data.totalWeight,
      scaleFactor = problem.scaleFactor,
      // Plain adding: the pending step is taken whole, the direction before it is not used.
      theta1 = 1.0,
      theta2 = 0.0)
    val residual = if (phase == Phase.Round) littleEndian(master.residual) else Array.emptyByteArray
    val message = RoundMessage(phase, request, residual, states, problem.selection)
    val weights: Broadcast[Array[Double]] = data.weightsBroadcast
    val described = sc.getLocalProperty(JobDescription)
    sc.setJobDescription(description)
    val gathered =
      try {
        // Columns that are lost with an executor are read again, and may then be refused with a message for the user.
        TaskFailure.unwrapped {
          DriverMode.exchange(data.partitions, message, ResultLayout.HeaderBytes, data.numRows)(localStep(weights))
        }
      } finally sc.setJobDescription(described)
    solvers ++= gathered.scalars.map(_.solver)
    if (problem.travellingState) states = gathered.scalars.zip(states).map { case (r, old) => r.state.getOrElse(old) }
    gathered
  }

  /** Where state travels the driver commits, with the same arithmetic as the workers' registries. */
  private def commitTravelling(): Unit =
    if (problem.travellingState) states = states.map(_.commit(theta1 = 1.0, theta2 = 0.0))

  private def describe(round: Int, objective: Double, gap: Double): String =
    f"dwell ${problem.uid}: round ${round + 1}%d, objective $objective%.6g, gap $gap%.2e"

  private def seconds(since: Long): Double = (System.nanoTime() - since) * 1e-9
}

object RoundLoop {

  /** Against rounding drift the residual is built anew after so many rounds (algorithms: v = A alpha is incremental). */
  private val RebuildEvery = 50

  /** From so many epochs a round on, the certificate's pass over the data is a small part of a round. */
  private val CertifyEveryRoundFrom = 2.0

  private val RebuildAttempts = 5

  /** Rounding of an objective, relative. F cannot rise and no gap can be negative by more than this. */
  private val RiseTolerance = 1e-9

  /** An unpenalised fit with less than this part of the label's variance left has no direction to improve in. */
  private val PerfectFit = 1e-24

  private val CleanUpLimit = 10.seconds

  private val JobDescription = "spark.job.description"

  /** What an exchange of the committed coordinates brought beside the residual. */
  private final case class Rebuilt(
      lostNothing: Boolean,
      kappa: Double,
      coefficients: Array[(Array[Int], Array[Double])])

  private def localStep(weights: Broadcast[Array[Double]]): (ColumnPartition, RoundMessage) => Contribution[WorkerReply] =
    (partition, message) => WorkerStep(partition, if (weights == null) null else weights.value, message)

  private def largest(values: Array[Double]): Double = values.maxOption.getOrElse(0.0)

  private def littleEndian(values: Array[Double]): Array[Byte] = {
    val bytes = new Array[Byte](8 * values.length)
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().put(values)
    bytes
  }
}
