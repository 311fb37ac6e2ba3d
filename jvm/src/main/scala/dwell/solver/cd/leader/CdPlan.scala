package dwell.solver.cd.leader

import dwell.comm.{Replicas, Workers}
import dwell.data.rows.RowSummary
import dwell.fit.{Attempt, FitPlan}
import dwell.problem.{LabelFacts, MarginLoss}
import dwell.record.{FitFacts, RoundRecord}
import dwell.solver.cd.worker.{CdMessage, CdReply, FromFits, RowsMessage, StartingPoint}
import dwell.solver.linear.{LinearProblem, LinearSolution}

/**
 * A fit by coordinate descent.
 *
 * @param numWorkers
 *   number of partitions
 * @param from
 *   starting point of the first attempt; None for zero
 * @param onTrial
 *   whether the rounds end if they do not get near the optimum at once
 * @param trial
 *   the rounds of another orientation, which these follow
 */
private[dwell] final case class CdPlan(
    id: Long,
    problem: LinearProblem,
    loss: MarginLoss,
    numFeatures: Int,
    numWorkers: Int,
    leaderPlan: CdLeaderPlan,
    from: Option[StartingPoint],
    onTrial: Boolean,
    trial: Seq[RoundRecord])
    extends FitPlan[CdMessage, CdReply, LinearSolution] {

  override def vectorLength: Int = leaderPlan.vectorLength

  override def lead(workers: Replicas[CdMessage, CdReply], attempt: Attempt)(
      completed: RoundRecord => Unit): LinearSolution = {
    val start = if (attempt.number == 0) from else Some(FromFits((attempt.number - 1 to 0 by -1).map(attemptId), 1.0))
    val fit = attemptId(attempt.number)
    val leader = leaderPlan.of(problem, loss, workers)
    val loop = new RoundLoop(workers, fit, numWorkers, leader, problem, completed, onTrial, trial)
    val rounds = loop.run(start)
    val (coefficients, intercept) = leader.model(rounds.coefficients, numFeatures)
    LinearSolution(
      coefficients,
      Array(intercept),
      FitFacts(
        rounds = rounds.records,
        objective = leader.upperBound,
        dual = leader.lowerBound,
        converged = rounds.converged,
        drift = leader.drift),
      stalled = rounds.hasFailed)
  }
}

/**
 * The data of a [[CdLeader]], in a form that can be sent. `adds` says whether the leader adds the workers' steps as they are, which is the
 * reference for searched steps.
 */
private[dwell] sealed trait CdLeaderPlan extends Serializable {

  /** Entries of the shared vector. */
  def vectorLength: Int

  /** The leader of a problem, which may ask the workers. */
  def of(problem: LinearProblem, loss: MarginLoss, workers: Workers[CdMessage, CdReply]): CdLeader
}

/**
 * The data of a [[PrimalLeader]], for columns.
 *
 * @param rows
 *   number of rows, m
 * @param totalWeight
 *   sum of the row weights, S
 * @param labelMean
 *   weighted mean of the labels
 */
private[dwell] final case class PrimalPlan(
    rows: Int,
    totalWeight: Double,
    labelMean: Double,
    coordinates: Array[Int],
    adds: Boolean)
    extends CdLeaderPlan {
  override def vectorLength: Int = rows

  override def of(problem: LinearProblem, loss: MarginLoss, workers: Workers[CdMessage, CdReply]): CdLeader = {
    val read = workers
      .exchange(RowsMessage(coordinates.length), Array.emptyByteArray, s"dwell ${problem.uid}: rows")
      .scalars
      .map(_.rows.get)
    // Margins stay small and exact.
    val origin = if (loss.isParabola && problem.intercept) labelMean else 0.0
    val margins = new Margins(loss, origin, read, problem.settings.threads)
    new PrimalLeader(margins, origin, rows, totalWeight, loss, problem, coordinates, adds)
  }
}

/**
 * The data of a [[DualLeader]], for rows.
 *
 * @param holders
 *   number of partitions that have a nonzero of each feature; null unless [[DualPlan.averages]]
 */
private[dwell] final case class DualPlan(
    rows: RowSummary,
    holders: Array[Int],
    numFeatures: Int,
    labels: LabelFacts,
    initialIntercept: Option[Double],
    adds: Boolean)
    extends CdLeaderPlan {
  override def vectorLength: Int = numFeatures
  override def of(problem: LinearProblem, loss: MarginLoss, workers: Workers[CdMessage, CdReply]): CdLeader =
    // No common step suits all workers if many dual variables are at their bounds.
    if (loss.saturates) new ConsensusDual(rows, holders, numFeatures, labels, loss, problem, initialIntercept, adds)
    else new LineSearchedDual(rows, numFeatures, labels, loss, problem, initialIntercept, adds)
}

private[dwell] object DualPlan {

  /** Whether the leader averages what several workers found, for which it must know the holders of each feature. */
  def averages(problem: LinearProblem, workers: Int): Boolean = problem.loss match {
    case loss: MarginLoss => workers > 1 && loss.saturates
    case _ => false
  }
}
