package dwell.fit

/**
 * How the workers of a session solve.
 *
 * @param threads
 *   threads that one task may use
 * @param travellingState
 *   worker state travels with every round instead of staying with the worker
 * @param adding
 *   the leader adds the workers' steps without a line search (Smith et al. 2018, gamma = 1, sigma' = K)
 * @param gangPatienceMillis
 *   time for which a gang may wait for slots
 * @param driverBytes
 *   size of a job's results that the driver accepts and has room for
 * @param maxResultBytes
 *   size of a job's results that the driver accepts
 */
final case class SolverSettings(
    threads: Int,
    travellingState: Boolean,
    adding: Boolean,
    gangPatienceMillis: Long,
    driverBytes: Long,
    maxResultBytes: Long = Long.MaxValue)
