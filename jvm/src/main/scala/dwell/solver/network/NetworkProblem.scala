package dwell.solver.network

import dwell.fit.{Aggregation, DescentProblem, SolverSettings}
import dwell.problem.Algorithm
import dwell.record.FitFacts

/**
 * A network to train: minimise over its weights the mean over the rows of minus the logarithm of the probability of a row's class. Hidden
 * units are sigmoids, and the softmax of what comes out of the last layer gives the probabilities.
 *
 * @param layers
 *   features, the units of each hidden layer, classes
 * @param start
 *   the weights to start from, in Spark's order: for each layer after the features the matrix, column by column, and then the bias
 * @param algorithm
 *   L-BFGS or model averaging
 * @param tolerance
 *   of Breeze's rules to stop, or of model averaging
 * @param maxRounds
 *   the most iterations, or rounds
 * @param localWork
 *   of model averaging, as `seed`, which decides the order of the rows, and as `stepSize`
 * @param batch
 *   rows of a step of model averaging
 * @param numWorkers
 *   0 chooses by the size of the data and of the network
 * @param aggregation
 *   None chooses by what the cluster allows
 */
final case class NetworkProblem(
    uid: String,
    layers: Array[Int],
    start: Array[Double],
    algorithm: Algorithm,
    tolerance: Double,
    maxRounds: Int,
    localWork: Option[Double],
    stepSize: Option[Double],
    batch: Int,
    seed: Long,
    numWorkers: Int,
    aggregation: Option[Aggregation],
    settings: SolverSettings)
    extends DescentProblem

/**
 * A trained network.
 *
 * @param weights
 *   in the order of those to start from
 * @param facts
 *   what is known of the fit so far
 */
final case class NetworkSolution(weights: Array[Double], facts: FitFacts)
