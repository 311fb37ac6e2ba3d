package dwell.solver.cd.leader

/**
 * Time in which the leader waited for answers of the workers beside those of a round.
 *
 * @param seconds
 *   of the leader
 * @param workerSeconds
 *   time of these in which the slowest worker worked
 */
private[solver] final case class Waited(seconds: Double, workerSeconds: Double)
