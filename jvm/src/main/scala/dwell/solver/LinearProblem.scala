package dwell.solver

import dwell.report.RoundRecord
import dwell.solver.sgd.StepSchedule

/**
 * A linear model to be trained: minimise over coefficients alpha and intercept b
 *
 * {{{
 *   F = (1/S) sum_i s_i loss(x_i^T alpha + b; y_i) + sum_j [ l1 u_j |alpha_j| + l2 u_j^2 alpha_j^2 / 2 ]
 * }}}
 *
 * @param algorithm
 *   what the workers do in a round
 * @param loss
 *   for classification the labels of the data are 0 and 1
 * @param scaleFactor
 *   0: u_j = 1. Otherwise u_j^2 is the population variance of feature j times this factor (1, or the one of the sample)
 * @param intercept
 *   whether b is trained, without a penalty; 0 otherwise
 * @param tolerance
 *   stop at this bound of the relative suboptimality; without a penalty, where no bound exists, at this largest
 *   correlation of a feature with the residual
 * @param localWork
 *   epochs over the local coordinates in a round, of which a batch does one at most; None lets the measured times choose
 * @param orientation
 *   `auto`, `primal` or `dual`
 * @param numWorkers
 *   0 chooses by the size of the data
 * @param aggregation
 *   None chooses by what the cluster allows
 * @param initial
 *   coefficients and intercepts to start from, in the layout of [[LinearSolution]]; used in the primal orientation and by
 *   algorithms that work on coefficients
 * @param classes
 *   number of classes where the loss is their softmax, in place of `loss`; the labels of the data are then their numbers,
 *   from 0. Only for a [[GradientAlgorithm]]
 */
final case class LinearProblem(
    uid: String,
    algorithm: Algorithm,
    loss: Loss,
    l1: Double,
    l2: Double,
    scaleFactor: Double,
    intercept: Boolean,
    tolerance: Double,
    maxRounds: Int,
    localWork: Option[Double],
    orientation: String,
    numWorkers: Int,
    aggregation: Option[Aggregation],
    seed: Long,
    initial: Option[(Array[Double], Array[Double])],
    settings: SolverSettings,
    classes: Option[Int] = None,
    descent: DescentSettings = DescentSettings())
    extends FitProblem

/**
 * How local gradient descent makes its steps.
 *
 * @param stepSize
 *   the first one; None searches for it
 * @param schedule
 *   how it falls; None chooses by the penalty
 * @param decay
 *   what it is multiplied by after each round
 * @param running
 *   a worker's result is the mean of its models after each step, in place of the last one
 */
final case class DescentSettings(
    stepSize: Option[Double] = None,
    schedule: Option[StepSchedule.Kind] = None,
    decay: Double = 1.0,
    running: Boolean = false)

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

/**
 * A trained model and its certificate.
 *
 * @param coefficients
 *   of feature j and output c at j C + c; C is 1, or the number of classes with the softmax loss
 * @param intercepts
 *   one for each output
 * @param objective
 *   F of the coefficients
 * @param dual
 *   lower bound of F over all models; NaN where the algorithm gives none
 * @param gap
 *   objective - dual
 * @param drift
 *   largest relative difference between what was carried along and what was computed anew
 * @param orientationReason
 *   why this orientation was chosen
 * @param aggregation
 *   the mode that was used
 * @param aggregationReason
 *   why this mode
 * @param restarts
 *   times that the rounds began again, from what was left with the workers, since a barrier stage had failed
 * @param flattenSeconds
 *   time spent on bringing the data into the form of this orientation; 0 where an earlier fit had done so
 */
final case class LinearSolution(
    coefficients: Array[Double],
    intercepts: Array[Double],
    objective: Double,
    dual: Double,
    gap: Double,
    converged: Boolean,
    drift: Double,
    solver: String,
    orientation: String,
    orientationReason: String,
    aggregation: String,
    aggregationReason: String,
    restarts: Int,
    rounds: Seq[RoundRecord],
    nonzerosPerPartition: Seq[Long],
    flattenSeconds: Double) {

  /** The intercept of a model with one output. */
  def intercept: Double = intercepts.head
}
