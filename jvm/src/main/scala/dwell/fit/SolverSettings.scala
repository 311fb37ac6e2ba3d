package dwell.fit

/**
 * How the workers of a session solve.
 *
 * @param threads
 *   that one task may use
 * @param travellingState
 *   worker state travels with every round instead of staying with the worker
 * @param adding
 *   the workers' steps are added as they are (Smith et al. 2018, gamma = 1, sigma' = K), instead of searched along
 * @param gangPatienceMillis
 *   time for which a gang may wait for slots
 * @param maxResultBytes
 *   results of a job that the driver takes
 */
final case class SolverSettings(
    threads: Int,
    travellingState: Boolean,
    selection: SolverSelection,
    adding: Boolean,
    gangPatienceMillis: Long,
    maxResultBytes: Long)
