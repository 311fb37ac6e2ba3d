package dwell.solver.network

import dwell.solver.pass.NetworkPass

/** The request of one exchange of model averaging. The weights travel with it. */
private[solver] sealed trait NetworkMessage extends Serializable

/**
 * Local descent over the next rows. The update is the weights that descent has reached, times the share.
 *
 * @param stepSize
 *   of every step of the round
 * @param epochs
 *   passes over the partition's rows
 * @param cursors
 *   buckets of rows that each partition has visited since the start of the fit
 * @param shares
 *   weight of each partition in the average
 */
private[solver] final case class NetworkDescent(
    steps: NetworkSteps,
    stepSize: Double,
    epochs: Double,
    cursors: Array[Long],
    shares: Array[Double])
    extends NetworkMessage

/**
 * Local descent with each candidate for the first step size. The update has no vector.
 *
 * @param rows
 *   of each partition to descend over, and as many others to measure at
 */
private[solver] final case class NetworkSearch(steps: NetworkSteps, candidates: Array[Double], rows: Long)
    extends NetworkMessage

/** A pass over all rows. */
private[solver] final case class NetworkLosses(pass: NetworkPass) extends NetworkMessage

/**
 * What all steps of a fit have in common.
 *
 * @param layers
 *   features, the units of each hidden layer, classes
 * @param seed
 *   of the order of rows
 * @param batch
 *   rows of a step
 * @param threads
 *   threads that one task may use; the rounding of sums depends on them
 */
private[solver] final case class NetworkSteps(layers: Array[Int], seed: Long, batch: Int, threads: Int)
