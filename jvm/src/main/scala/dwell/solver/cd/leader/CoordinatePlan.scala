package dwell.solver.cd.leader

import dwell.comm.Replicas
import dwell.data.rows.RowSummary
import dwell.fit.{Attempt, FitPlan}
import dwell.report.RoundRecord
import dwell.solver.cd.contract.{FromFits, RoundMessage, StartingPoint, WorkerReply}
import dwell.solver.problem.{LinearProblem, Trained}

/**
 * A fit by coordinate descent.
 *
 * @param coordinates
 *   of each partition
 * @param from
 *   where its first attempt starts; zero otherwise
 */
private[dwell] final case class CoordinatePlan(
    id: Long,
    problem: LinearProblem,
    numFeatures: Int,
    coordinates: Array[Int],
    master: MasterPlan,
    from: Option[StartingPoint])
    extends FitPlan[RoundMessage, WorkerReply, Trained] {

  override def vectorLength: Int = master.vectorLength

  override def lead(workers: Replicas[RoundMessage, WorkerReply], attempt: Attempt)(
      completed: RoundRecord => Unit): Trained = {
    val start = if (attempt.number == 0) from else Some(FromFits((attempt.number - 1 to 0 by -1).map(attemptId), 1.0))
    val leader = master.of(problem)
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

/** What a [[Master]] is made of. */
private[dwell] sealed trait MasterPlan extends Serializable {
  def vectorLength: Int
  def of(problem: LinearProblem): Master
}

/** For columns: see [[PrimalMaster]]. */
private[dwell] final case class PrimalPlan(
    labels: Array[Double],
    weights: Array[Double],
    totalWeight: Double,
    coordinates: Array[Int],
    nonzeros: Long)
    extends MasterPlan {
  override def vectorLength: Int = labels.length
  override def of(problem: LinearProblem): Master =
    new PrimalMaster(labels, weights, totalWeight, problem, coordinates, nonzeros)
}

/** For rows: see [[DualMaster]]. */
private[dwell] final case class DualPlan(
    rows: RowSummary,
    numFeatures: Int,
    totalWeight: Double,
    labels: LabelSummary,
    initialIntercept: Option[Double])
    extends MasterPlan {
  override def vectorLength: Int = numFeatures
  override def of(problem: LinearProblem): Master =
    DualMaster(rows, numFeatures, totalWeight, labels, problem, initialIntercept)
}
