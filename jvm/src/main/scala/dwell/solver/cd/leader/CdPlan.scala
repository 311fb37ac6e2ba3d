package dwell.solver.cd.leader

import dwell.comm.Replicas
import dwell.data.rows.RowSummary
import dwell.fit.{Attempt, FitPlan}
import dwell.report.RoundRecord
import dwell.solver.cd.contract.{CdMessage, CdReply, FromFits, StartingPoint}
import dwell.solver.problem.{LinearProblem, Trained}

/**
 * A fit by coordinate descent.
 *
 * @param coordinates
 *   of each partition
 * @param from
 *   where its first attempt starts; zero otherwise
 */
private[dwell] final case class CdPlan(
    id: Long,
    problem: LinearProblem,
    numFeatures: Int,
    coordinates: Array[Int],
    leaderPlan: CdLeaderPlan,
    from: Option[StartingPoint])
    extends FitPlan[CdMessage, CdReply, Trained] {

  override def vectorLength: Int = leaderPlan.vectorLength

  override def lead(workers: Replicas[CdMessage, CdReply], attempt: Attempt)(
      completed: RoundRecord => Unit): Trained = {
    val start = if (attempt.number == 0) from else Some(FromFits((attempt.number - 1 to 0 by -1).map(attemptId), 1.0))
    val leader = leaderPlan.of(problem)
    val loop = new RoundLoop(workers, attemptId(attempt.number), coordinates, leader, problem, completed)
    val rounds = loop.run(start)
    val (coefficients, intercept) = leader.model(rounds.coefficients, numFeatures)
    Trained(
      coefficients,
      Array(intercept),
      leader.upperBound,
      leader.lowerBound,
      rounds.converged,
      leader.drift,
      rounds.solver,
      rounds.records)
  }
}

/** What a [[CdLeader]] is made of. */
private[dwell] sealed trait CdLeaderPlan extends Serializable {
  def vectorLength: Int
  def of(problem: LinearProblem): CdLeader
}

/** For columns: see [[PrimalLeader]]. */
private[dwell] final case class PrimalPlan(
    labels: Array[Double],
    weights: Array[Double],
    totalWeight: Double,
    coordinates: Array[Int],
    nonzeros: Long)
    extends CdLeaderPlan {
  override def vectorLength: Int = labels.length
  override def of(problem: LinearProblem): CdLeader =
    new PrimalLeader(labels, weights, totalWeight, problem, coordinates, nonzeros)
}

/** For rows: see [[DualLeader]]. */
private[dwell] final case class DualPlan(
    rows: RowSummary,
    numFeatures: Int,
    totalWeight: Double,
    labels: LabelSummary,
    initialIntercept: Option[Double])
    extends CdLeaderPlan {
  override def vectorLength: Int = numFeatures
  override def of(problem: LinearProblem): CdLeader =
    DualLeader(rows, numFeatures, totalWeight, labels, problem, initialIntercept)
}
