package dwell.record

/**
 * When a worker was in the local solver.
 *
 * @param start
 *   seconds since the start of the rounds, by the clock of the worker's machine
 * @param seconds
 *   time inside the local solver
 */
final case class WorkerTime(start: Double, seconds: Double)
