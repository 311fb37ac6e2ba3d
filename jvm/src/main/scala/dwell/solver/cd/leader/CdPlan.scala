package dwell.solver.cd.leader

import dwell.comm.Replicas
import dwell.data.rows.RowSummary
import dwell.fit.{Attempt, FitPlan}
import dwell.report.RoundRecord
import dwell.solver.cd.contract.{CdMessage, CdReply, FromFits, StartingPoint}
import dwell.solver.problem.{Algorithm, CoordinateAlgorithm, LabelFacts, LinearProblem, MarginLoss, Trained}

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
    algorithm: CoordinateAlgorithm,
    loss: MarginLoss,
    numFeatures: Int,
    coordinates: Array[Int],
    leaderPlan: CdLeaderPlan,
    from: Option[StartingPoint])
    extends FitPlan[CdMessage, CdReply, Trained] {

  override def vectorLength: Int = leaderPlan.vectorLength

  override def lead(workers: Replicas[CdMessage, CdReply], attempt: Attempt)(
      completed: RoundRecord => Unit): Trained = {
    val start = if (attempt.number == 0) from else Some(FromFits((attempt.number - 1 to 0 by -1).map(attemptId), 1.0))
    val leader = leaderPlan.of(problem, algorithm, loss)
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
  def of(problem: LinearProblem, algorithm: CoordinateAlgorithm, loss: MarginLoss): CdLeader
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
  override def of(problem: LinearProblem, algorithm: CoordinateAlgorithm, loss: MarginLoss): CdLeader =
    new PrimalLeader(labels, weights, totalWeight, algorithm, loss, problem, coordinates, nonzeros)
}

/** For rows: see [[DualLeader]]. */
private[dwell] final case class DualPlan(
    rows: RowSummary,
    numFeatures: Int,
    labels: LabelFacts,
    initialIntercept: Option[Double])
    extends CdLeaderPlan {
  override def vectorLength: Int = numFeatures
  override def of(problem: LinearProblem, algorithm: CoordinateAlgorithm, loss: MarginLoss): CdLeader =
    algorithm match {
      case Algorithm.MiniBatchSGD => new MiniBatchGradient(rows, numFeatures, labels, loss, problem)
      // Where dual variables stick to their bounds, no common step suits all workers.
      case Algorithm.CoCoA if loss.saturates =>
        new ConsensusDual(rows, numFeatures, labels, loss, problem, initialIntercept)
      case Algorithm.CoCoA | Algorithm.MiniBatchSCD =>
        new LineSearchedDual(rows, numFeatures, labels, loss, algorithm, problem, initialIntercept)
    }
}
