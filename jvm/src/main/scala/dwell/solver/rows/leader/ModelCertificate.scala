package dwell.solver.rows.leader

import dwell.jni.PassLayout
import dwell.problem.DualFeasibility

/**
 * The exact objective of a model, and a lower bound of the objective of every model: minus the derivatives of the losses are
 * dual variables, after a correction for the condition of a free intercept. With the corrected a_i = -l'(z_i),
 *
 * {{{
 *   D = -(1/S) sum_i s_i l*(-a_i) - sum_jc [ |v_jc| - l1 u_j ]_+^2 / (2 l2 u_j^2),   v = (1/S) sum_i s_i a_i x_i
 * }}}
 *
 * (Fenchel duality; Smith et al. 2018, section 3). The bound exists if the penalty is strongly convex.
 */
private[rows] final class ModelCertificate(passes: RowPasses[_], task: SgdTask) {
  import ModelCertificate._

  private val facts = task.facts

  /** Whether there is a lower bound. */
  def exists: Boolean = task.sgd.penalty.l2 > 0.0

  /** F of `model`: one pass over the data. */
  def objective(model: Array[Double]): Double = at(model).loss + task.penaltyOf(model)

  /** F of `model` and the lower bound: two passes over the data, or one if there is no bound. */
  def of(model: Array[Double]): Certified = {
    val primal = at(model)
    val dual =
      if (!exists) Double.NaN
      else bound(passes.evaluate(model, Some(dualNumbers(primal)), "certificate"))
    Certified(primal.loss + task.penaltyOf(model), dual)
  }

  private def at(model: Array[Double]): Evaluated = passes.evaluate(model, None, "objective")

  /**
   * The numbers of [[dwell.solver.pass.PassMessage]], which with an intercept make the dual variables sum up
   * to 0. Losses of two classes: the variables of the heavier class shrink. Softmax: the predicted probabilities are
   * mixed with others, so that the probabilities of each class sum to its weight over the rows.
   */
  private def dualNumbers(primal: Evaluated): Array[Double] = {
    val first = task.numFeatures * task.outputs
    task.sgd.loss.feasibility match {
      case DualFeasibility.Shift => Array(if (task.sgd.intercept) -primal.gradient(first) else 0.0)
      case DualFeasibility.ShrinkClass(_) =>
        val negative = primal.headers.sum(PassLayout.SLOPES)
        val positive = primal.headers.sum(PassLayout.SLOPES + 1)
        val lighter = math.min(negative, positive)
        def factor(sum: Double): Double = if (task.sgd.intercept && sum > 0.0) lighter / sum else 1.0
        Array(factor(negative), factor(positive))
      case DualFeasibility.MixClasses(classes) =>
        val wanted = facts.labels.classWeights
        if (!task.sgd.intercept) 0.0 +: Array.fill(classes)(1.0 / classes)
        else {
          val predicted =
            Array.tabulate(classes)(c => wanted(c) + facts.labels.totalWeight * primal.gradient(first + c))
          // A little more than necessary, because the sums are rounded.
          val least = wanted.indices.map(c => if (predicted(c) > 0.0) 1.0 - wanted(c) / predicted(c) else 0.0).max
          val eps = math.min(1.0, math.max(0.0, least) + MixingSlack)
          val rest = Array.tabulate(classes)(c => math.max(0.0, wanted(c) - (1.0 - eps) * predicted(c)))
          eps +: rest.map(_ / rest.sum)
        }
    }
  }

  private def bound(dual: Evaluated): Double = {
    var conjugate = 0.0
    var j = 0
    while (j < task.numFeatures) {
      val scale = task.scaleOf(j)
      if (scale > 0.0) {
        val threshold = task.sgd.penalty.l1 / math.sqrt(scale)
        var c = 0
        while (c < task.outputs) {
          val excess = math.max(0.0, math.abs(dual.gradient(j * task.outputs + c)) - threshold)
          conjugate += excess * excess * scale
          c += 1
        }
      }
      j += 1
    }
    -dual.loss - conjugate / (2.0 * task.sgd.penalty.l2)
  }
}

private[rows] object ModelCertificate {

  /** Added to the share of the mixed-in probabilities, against rounding. */
  private val MixingSlack = 1e-12
}

/**
 * An objective and its lower bound.
 *
 * @param dual
 *   lower bound of F over all models; NaN if there is none
 */
private[rows] final case class Certified(objective: Double, dual: Double)

/**
 * A lower bound of F over all models, which certificates raise.
 *
 * @param first
 *   a bound that is known, or NaN
 */
private[rows] final class Proof(certificate: ModelCertificate, first: Double) {
  private var best = Double.NegativeInfinity
  raise(first)

  def lowerBound: Double = best

  /** Takes another lower bound into account; NaN is none. */
  def raise(bound: Double): Unit = if (bound > best) best = bound

  /** Raises the bound by a certificate at a model, if there are any: two passes over the data. */
  def renew(model: Array[Double]): Unit = if (certificate.exists) raise(certificate.of(model).dual)

  /** Whether a model of this objective is proven to be as good as `tolerance` asks for. */
  def suffices(objective: Double, tolerance: Double): Boolean = objective - best <= tolerance * objective
}

private[rows] object Proof {

  /** Iterations from one certificate to the next. */
  val Every = 10
}
