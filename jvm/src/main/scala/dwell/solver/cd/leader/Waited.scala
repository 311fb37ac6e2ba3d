package dwell.solver.cd.leader

/**
 * Time in which the leader waited for answers of the workers, apart from the answers of a round.
 *
 * @param seconds
 *   of the leader
 * @param workerSeconds
 *   the part of this time in which the slowest worker worked
 */
private[solver] final case class Waited(seconds: Double, workerSeconds: Double)
