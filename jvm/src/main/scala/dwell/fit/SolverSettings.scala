package dwell.fit

/**
 * How the workers of a session solve.
 *
 * @param threads
 *   threads that one task may use
 * @param gangPatienceMillis
 *   time for which a gang may wait for slots
 * @param driverBytes
 *   size of a job's results that the driver accepts and has room for
 * @param maxResultBytes
 *   size of a job's results that the driver accepts
 */
final case class SolverSettings(
    threads: Int,
    gangPatienceMillis: Long,
    driverBytes: Long,
    maxResultBytes: Long = Long.MaxValue)
