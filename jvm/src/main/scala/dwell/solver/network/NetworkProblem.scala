package dwell.solver.network

import dwell.fit.{Aggregation, FitProblem, SolverSettings}
import dwell.record.FitFacts

/**
 * A network to train: minimise over its weights the mean over the rows of minus the logarithm of the probability of a row's class. Hidden
 * units are sigmoids, and the softmax of what comes out of the last layer gives the probabilities.
 *
 * @param layers
 *   features, the units of each hidden layer, classes
 * @param start
 *   the weights to start from, in Spark's order: for each layer after the features the matrix, column by column, and then the bias
 * @param tolerance
 *   of Breeze's rules to stop
 * @param maxRounds
 *   the most iterations
 * @param numWorkers
 *   0 chooses by the size of the data and of the network
 * @param aggregation
 *   None chooses by what the cluster allows
 */
final case class NetworkProblem(
    uid: String,
    layers: Array[Int],
    start: Array[Double],
    tolerance: Double,
    maxRounds: Int,
    numWorkers: Int,
    aggregation: Option[Aggregation],
    settings: SolverSettings)
    extends FitProblem

/**
 * A trained network.
 *
 * @param weights
 *   in the order of those to start from
 * @param facts
 *   what is known of the fit so far
 */
final case class NetworkSolution(weights: Array[Double], facts: FitFacts)
