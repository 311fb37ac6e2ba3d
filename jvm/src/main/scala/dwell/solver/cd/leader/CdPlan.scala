package dwell.solver.cd.leader

import dwell.comm.{Replicas, Workers}
import dwell.data.rows.RowSummary
import dwell.fit.{Attempt, FitPlan}
import dwell.problem.{Algorithm, CoordinateAlgorithm, LabelFacts, MarginLoss}
import dwell.record.{FitFacts, RoundRecord}
import dwell.solver.cd.worker.{CdMessage, CdReply, FromFits, RowsMessage, RowsRequest, StartingPoint}
import dwell.solver.linear.{LinearProblem, LinearSolution}

/**
 * A fit by coordinate descent.
 *
 * @param coordinates
 *   number of coordinates of each partition
 * @param from
 *   starting point of the first attempt; None for zero
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
    extends FitPlan[CdMessage, CdReply, LinearSolution] {

  override def vectorLength: Int = leaderPlan.vectorLength

  override def lead(workers: Replicas[CdMessage, CdReply], attempt: Attempt)(
      completed: RoundRecord => Unit): LinearSolution = {
    val start = if (attempt.number == 0) from else Some(FromFits((attempt.number - 1 to 0 by -1).map(attemptId), 1.0))
    val fit = attemptId(attempt.number)
    val led = leaderPlan.of(problem, algorithm, loss, workers, fit)
    val leader = led.leader
    val loop = new RoundLoop(led.workers, fit, coordinates, leader, problem, completed)
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
        drift = leader.drift))
  }
}

/** The data of a [[CdLeader]], in a form that can be sent. */
private[dwell] sealed trait CdLeaderPlan extends Serializable {

  /** Entries of the shared vector. */
  def vectorLength: Int

  /** The leader of a problem, which may ask the workers. */
  def of(
      problem: LinearProblem,
      algorithm: CoordinateAlgorithm,
      loss: MarginLoss,
      workers: Replicas[CdMessage, CdReply],
      fit: Long): Led
}

/** A leader, and the workers as its rounds ask them. */
private[dwell] final case class Led(leader: CdLeader, workers: Workers[CdMessage, CdReply])

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
    nonzeros: Long)
    extends CdLeaderPlan {
  override def vectorLength: Int = rows

  override def of(
      problem: LinearProblem,
      algorithm: CoordinateAlgorithm,
      loss: MarginLoss,
      workers: Replicas[CdMessage, CdReply],
      fit: Long): Led = {
    val settings = problem.settings
    // Margins stay small and exact.
    val origin = if (loss.isParabola && problem.intercept) labelMean else 0.0
    val description = s"dwell ${problem.uid}: rows"
    def message(asked: RowsRequest) =
      RowsMessage(asked, fit, coordinates.length, settings.threads)
    def leader(margins: Margins): PrimalLeader =
      new PrimalLeader(margins, origin, rows, totalWeight, algorithm, loss, problem, coordinates, nonzeros)
    if (rows >= settings.rowsOfWorkers) {
      val sliced = workers.sliced
      def margins = new WorkerMargins(sliced, message, loss, origin, description)
      Led(Retried(problem.uid)(Some(leader(margins))), new OwnersOfRows(sliced))
    } else {
      val read = workers.exchange(message(RowsRequest.Read), Array.emptyByteArray, description).scalars.map(_.rows.get)
      Led(leader(new LocalMargins(loss, origin, read, settings)), workers)
    }
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
    initialIntercept: Option[Double])
    extends CdLeaderPlan {
  override def vectorLength: Int = numFeatures
  override def of(
      problem: LinearProblem,
      algorithm: CoordinateAlgorithm,
      loss: MarginLoss,
      workers: Replicas[CdMessage, CdReply],
      fit: Long): Led = Led(leader(problem, algorithm, loss), workers)

  private def leader(problem: LinearProblem, algorithm: CoordinateAlgorithm, loss: MarginLoss): CdLeader =
    algorithm match {
      case Algorithm.MiniBatchSGD => new MiniBatchGradient(rows, numFeatures, labels, loss, problem)
      // No common step suits all workers if many dual variables are at their bounds.
      case Algorithm.CoCoA if loss.saturates =>
        new ConsensusDual(rows, holders, numFeatures, labels, loss, problem, initialIntercept)
      case Algorithm.CoCoA | Algorithm.MiniBatchSCD =>
        new LineSearchedDual(rows, numFeatures, labels, loss, algorithm, problem, initialIntercept)
    }
}

private[dwell] object DualPlan {

  /** Whether the leader averages what several workers found, for which it must know the holders of each feature. */
  def averages(problem: LinearProblem, workers: Int): Boolean = problem.loss match {
    case loss: MarginLoss => workers > 1 && problem.algorithm == Algorithm.CoCoA && loss.saturates
    case _ => false
  }
}
