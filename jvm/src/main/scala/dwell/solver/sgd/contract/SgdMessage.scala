package dwell.solver.sgd.contract

import dwell.fit.SolverSelection
import dwell.solver.problem.StepSchedule

/** What the workers are asked in one exchange; what differs between them is by partition. */
private[solver] sealed trait SgdCall extends Serializable

/**
 * Local descent over the next rows; the update is the model reached, weighted.
 *
 * @param epochs
 *   passes over the partition's rows
 * @param cursors
 *   where each partition is in its order of rows: see [[Descend]]
 * @param steps
 *   rows that each partition has visited
 * @param shares
 *   weight of each partition's model in the average
 */
private[solver] final case class DescendCall(
    schedule: StepSchedule,
    epochs: Double,
    cursors: Array[Long],
    steps: Array[Long],
    running: Boolean,
    shares: Array[Double])
    extends SgdCall

/**
 * Local descent over so many rows with each candidate of the first step; the update has no vector.
 *
 * @param rows
 *   of each partition
 */
private[solver] final case class SearchCall(schedule: StepSchedule, candidates: Array[Double], rows: Long)
    extends SgdCall

/** Losses and gradient of all rows, or the dual counterparts; the update is the gradient. See [[Evaluate]]. */
private[solver] final case class EvaluateCall(factor: Double, dual: Option[Array[Double]]) extends SgdCall

/** The message of one exchange. The model goes with it. */
private[solver] final case class SgdMessage(
    fit: Long,
    seed: Long,
    problem: SgdProblem,
    call: SgdCall,
    selection: SolverSelection)

/** What a worker says beside its vector. */
private[solver] final case class SgdReply(solver: String)
