package dwell.solver.rows.leader

import dwell.jni.SgdLayout
import dwell.problem.RowLoss
import dwell.record.{FitFacts, RoundRecord}
import dwell.solver.linear.{LinearProblem, LinearSolution}
import dwell.solver.rows.worker.RowObjective

/**
 * A linear problem with the statistics of its rows, for all parts of the leader.
 *
 * @param numFeatures
 *   length of the feature vectors, n
 */
private[solver] final case class RowTask(problem: LinearProblem, numFeatures: Int, facts: RowStatistics) {

  /** The objective for the workers. */
  lazy val objective: RowObjective =
    RowObjective(lossOfRows, problem.penalty, problem.intercept, facts.rows / facts.labels.totalWeight)

  /** Outputs of the model, C. */
  def outputs: Int = problem.loss.outputs

  /** Entries of a model, C (n + 1), and the scale of a loss that has one. */
  def vectorLength: Int = SgdLayout.entries(numFeatures, outputs) + problem.loss.epsilon.size

  /** One over the squared penalty factor of a feature. */
  def scaleOf(feature: Int): Double = if (facts.scale == null) 1.0 else facts.scale(feature)

  /** The penalty of a model. */
  def penaltyOf(model: Array[Double]): Double = {
    var (l1, square) = (0.0, 0.0)
    var j = 0
    while (j < numFeatures) {
      val scale = scaleOf(j)
      if (scale > 0.0) {
        val u = 1.0 / math.sqrt(scale)
        var c = 0
        while (c < outputs) {
          val w = u * model(j * outputs + c)
          l1 += math.abs(w)
          square += w * w
          c += 1
        }
      }
      j += 1
    }
    objective.penalty.l1 * l1 + 0.5 * (objective.penalty.l2 * square)
  }

  /** The best model without coefficients, and its objective. */
  def priorModel: Reached =
    constant(if (problem.intercept) objective.loss.bestConstant(facts.labels) else new Array[Double](outputs))

  /** A model of zeros, and its objective. */
  def zeroModel: Reached = constant(new Array[Double](outputs))

  private def constant(intercepts: Array[Double]): Reached = {
    val model = new Array[Double](vectorLength)
    System.arraycopy(intercepts, 0, model, numFeatures * outputs, outputs)
    Reached(model, objective.loss.meanAt(intercepts, facts.labels), converged = false)
  }

  /** A solution with this model. */
  def solution(model: Array[Double], facts: FitFacts): LinearSolution = {
    val (coefficients, intercepts) = model.splitAt(numFeatures * outputs)
    LinearSolution(coefficients, intercepts, facts)
  }

  /**
   * A curvature that the objective has in every direction: the curvature of the L2 penalty or, if it is less, of the mean
   * loss along an intercept, which has no penalty. For all losses of classes, the latter is taken from the cross
   * entropy at the prior model.
   */
  def leastCurvature: Double =
    if (problem.intercept) math.min(objective.penalty.l2, interceptCurvature) else objective.penalty.l2

  private def lossOfRows: RowLoss = problem.loss match {
    case loss: RowLoss => loss
    case other =>
      throw new IllegalArgumentException(s"the $other loss has a scale, which only Newton's method and L-BFGS train")
  }

  private def interceptCurvature: Double =
    if (facts.labels.classWeights == null) 1.0
    else {
      facts.labels.classWeights
        .filter(_ > 0.0)
        .map(_ / facts.labels.totalWeight)
        .map(share => share * (1.0 - share))
        .min
    }
}

/**
 * The model after some rounds.
 *
 * @param model
 *   in the layout of [[dwell.jni.SgdLayout]]
 * @param objective
 *   F of the model, as the rounds have measured it
 */
private[rows] final case class Reached(model: Array[Double], objective: Double, converged: Boolean)

/**
 * What a method leaves to the one that goes on after it.
 *
 * @param rounds
 *   its rounds
 * @param lowerBound
 *   of F over all models
 */
private[solver] final case class Before(rounds: Seq[RoundRecord], lowerBound: Double)
