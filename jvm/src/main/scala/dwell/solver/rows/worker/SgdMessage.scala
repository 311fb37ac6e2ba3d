package dwell.solver.rows.worker

import dwell.problem.StepSchedule
import dwell.solver.pass.PassMessage

/** The request of one exchange. Numbers that differ between the workers are in arrays by partition. */
private[solver] sealed trait SgdCall extends Serializable

/**
 * Local descent over the next rows. The update is the model that descent has reached, times its share.
 *
 * @param epochs
 *   passes over the partition's rows
 * @param cursors
 *   position of each partition in its order of rows: see [[Descend]]
 * @param steps
 *   rows that each partition has visited
 * @param shares
 *   weight of each partition's model in the average
 * @param threads
 *   threads of each partition's descent
 */
private[solver] final case class DescendCall(
    schedule: StepSchedule,
    epochs: Double,
    cursors: Array[Long],
    steps: Array[Long],
    shares: Array[Double],
    threads: Int)
    extends SgdCall

/**
 * Local descent with each candidate for the first step size. The update has no vector.
 *
 * @param rows
 *   number of rows of each partition to descend over
 */
private[solver] final case class SearchCall(schedule: StepSchedule, candidates: Array[Double], rows: Long)
    extends SgdCall

/** A pass over all rows. The model is in the order of the pass. */
private[solver] final case class PassCall(message: PassMessage) extends SgdCall

/** The message of one exchange. The model travels with it. */
private[solver] final case class SgdMessage(seed: Long, problem: RowObjective, call: SgdCall)
