package dwell.solver

import dwell.comm.{Numbers, Replicas, VectorFormat}
import dwell.data.RowSummary
import dwell.report.RoundRecord

/**
 * One fit, in a form that can be sent to where its rounds are led from.
 *
 * @tparam M
 *   message to the workers
 * @tparam S
 *   what a worker answers beside its vector
 * @tparam T
 *   what the rounds lead to
 */
private[solver] trait FitPlan[M, S, T] extends Serializable {

  /** Unique within the application. */
  def id: Long

  def problem: FitProblem

  /** Entries of the vectors that are exchanged. */
  def vectorLength: Int

  /** What they hold. */
  def numbers: Numbers = Numbers.Doubles

  final def format: VectorFormat = VectorFormat(ResultLayout.HeaderBytes, vectorLength, numbers)

  /** Whether the vectors of all workers may come to the driver although nobody has asked for it. */
  def fitsDriver: Boolean = true

  /**
   * Identifies an attempt to make the rounds. Each has states of its own, since nobody knows how far those of the one
   * before it have come.
   */
  final def attemptId(attempt: Int): Long = if (attempt == 0) id else SplitMix.mix(id + attempt)

  /** Makes the rounds. A later attempt starts from what those before it have left with the workers. */
  def lead(workers: Replicas[M, S], attempt: Attempt)(completed: RoundRecord => Unit): T
}

/**
 * An attempt to make the rounds of a fit.
 *
 * @param number
 *   0 is the first
 * @param earlier
 *   rounds that those before it have made, in their order, as far as the driver was told
 * @param seconds
 *   since the first of these began
 */
private[solver] final case class Attempt(number: Int, earlier: Seq[RoundRecord], seconds: Double)

private[solver] object Attempt {
  val first: Attempt = Attempt(0, Seq.empty, 0.0)
}

/**
 * A fit by coordinate descent.
 *
 * @param coordinates
 *   of each partition
 * @param from
 *   where its first attempt starts; zero otherwise
 */
private[solver] final case class CoordinatePlan(
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

/** What the rounds of a fit led to, as [[LinearSolution]] has it. */
private[solver] final case class Trained(
    coefficients: Array[Double],
    intercepts: Array[Double],
    objective: Double,
    dual: Double,
    converged: Boolean,
    drift: Double,
    solver: String,
    records: Seq[RoundRecord])

/** What a [[Master]] is made of. */
private[solver] sealed trait MasterPlan extends Serializable {
  def vectorLength: Int
  def of(problem: LinearProblem): Master
}

/** For columns: see [[PrimalMaster]]. */
private[solver] final case class PrimalPlan(
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
private[solver] final case class DualPlan(
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
