package dwell.solver.rows.worker

import dwell.problem.StepSchedule

/**
 * A worker's part of a round.
 *
 * @param seed
 *   seed of the order of rows
 * @param budget
 *   rows to visit, at least 1; descent finishes the bucket that reaches it
 * @param cursor
 *   buckets that the worker has visited since the start of the fit
 * @param steps
 *   rows that the worker has visited since the start of the fit
 * @param share
 *   factor of the result, 0 to 1: the worker's weight in the average of the models
 * @param threads
 *   threads of the call, 1 to 256. Each makes its steps on its own copy of the model, and the result is the mean of the copies, so it
 *   depends on their number, but not on the number of cores
 */
final case class Descend(
    seed: Long,
    problem: RowObjective,
    schedule: StepSchedule,
    budget: Long,
    cursor: Long,
    steps: Long,
    share: Double,
    threads: Int)

/**
 * A search for the first step size.
 *
 * @param schedule
 *   the schedule of the steps; its own first step size is ignored
 * @param candidates
 *   first step sizes, each in the range of [[StepSchedule.eta0]]; 1 to [[dwell.jni.SgdLayout.MAX_CANDIDATES]] of them
 * @param budget
 *   rows to descend over, at least 1, and as many rows to measure at. If the partition has fewer rows than both need,
 *   each is half of its rows
 * @param cursor
 *   as in [[Descend]]
 * @param steps
 *   as in [[Descend]]
 */
final case class EtaSearch(
    seed: Long,
    problem: RowObjective,
    schedule: StepSchedule,
    candidates: Array[Double],
    budget: Long,
    cursor: Long,
    steps: Long)
