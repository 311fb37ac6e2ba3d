package dwell.solver.rows.leader

import dwell.jni.PassLayout
import dwell.problem.{DualFeasibility, MarginLoss}

/**
 * The exact objective of a model, and a lower bound of the objective of every model: minus the derivatives of the losses are
 * dual variables, after a correction for the condition of a free intercept. With the corrected a_i = -l'(z_i),
 *
 * {{{
 *   D = -(1/S) sum_i s_i l*(-a_i) - sum_jc [ |v_jc| - l1 u_j ]_+^2 / (2 l2 u_j^2),   v = (1/S) sum_i s_i a_i x_i
 * }}}
 *
 * (Fenchel duality; Smith et al. 2018, section 3). Without an L2 penalty v must not exceed l1 u_j, for which all dual variables shrink.
 */
private[rows] final class ModelCertificate(passes: RowPasses[_], task: RowTask) {
  import ModelCertificate._

  private val facts = task.facts
  private val n = task.numFeatures
  private val total = facts.labels.totalWeight

  private val l1 = task.objective.penalty.l1
  private val l2 = task.objective.penalty.l2

  private val feasibility = task.objective.loss.feasibility

  /** Whether the loss is a parabola, of which a sum over the rows says what smaller dual variables give. */
  private val isParabola = task.objective.loss match {
    case loss: MarginLoss => loss.isParabola
    case _ => false
  }

  /** Whether there is a lower bound. */
  def exists: Boolean =
    l2 > 0.0 || l1 > 0.0 && (isParabola || feasibility.shrunk(Array.fill(feasibility.numbers)(1.0), 1.0).nonEmpty)

  /** The model to start from: the user's, or the best one without coefficients. */
  def start: Reached = task.problem.initial match {
    case Some((coefficients, intercepts)) =>
      val model = coefficients ++ intercepts
      Reached(model, objective(model), converged = false)
    case None => task.priorModel
  }

  /** F of `model`: one pass over the data. */
  def objective(model: Array[Double]): Double = at(passes.written(model)).loss + task.penaltyOf(model)

  /** F of `model` and the lower bound: two passes over the data, or one if there is no bound. */
  def of(model: Array[Double]): Certified = {
    val written = passes.written(model)
    val primal = at(written)
    Certified(primal.loss + task.penaltyOf(model), dual(written, primal))
  }

  /**
   * The lower bound from a model in the layout of a pass: one pass over the data, or two without an L2 penalty, but for the squared loss. NaN if there is no
   * bound.
   *
   * @param primal
   *   the pass at the model
   */
  def dual(model: Array[Byte], primal: Passed): Double =
    if (!exists) Double.NaN
    else {
      val numbers = dualNumbers(primal)
      val first = at(model, numbers)
      if (l2 > 0.0) bound(first)
      else {
        // Without an L2 penalty v has to stay within the L1 penalty of each coefficient (Massias et al., ICML 2018, section 2).
        val most = math.min(1.0, 1.0 / excess(first))
        if (isParabola) ofSquares(primal, numbers.head, first, most)
        else if (most == 1.0) -first.loss
        else feasibility.shrunk(numbers, most).fold(Double.NaN)(smaller => -at(model, smaller).loss)
      }
    }

  /**
   * The bound of the squared loss from dual variables that shrink by the best factor k: k mean(y a) - k^2 mean(a^2) / 2.
   *
   * @param most
   *   k is at most this
   */
  private def ofSquares(primal: Passed, shift: Double, dual: Passed, most: Double): Double = {
    // The shift is the mean of the residuals, and without an intercept 0.
    val squares = 2.0 * primal.loss - shift * shift
    val gain = 0.5 * squares - dual.loss
    val k = if (squares > 0.0) math.max(0.0, math.min(most, gain / squares)) else 0.0
    k * (gain - 0.5 * k * squares)
  }

  private def at(model: Array[Byte], dual: Array[Double]): Passed = passes.pass(model, Some(dual), "certificate")

  private def at(model: Array[Byte]): Passed = passes.pass(model, None, "objective")

  /**
   * The numbers of [[dwell.solver.pass.PassMessage]], which with an intercept make the dual variables sum up
   * to 0. Losses of two classes: the variables of the heavier class shrink. Softmax: the predicted probabilities are
   * mixed with others, so that the probabilities of each class sum to its weight over the rows.
   */
  private def dualNumbers(primal: Passed): Array[Double] = {
    feasibility match {
      case DualFeasibility.Shift => Array(if (task.objective.intercept) -primal.intercepts(0) / total else 0.0)
      case DualFeasibility.ShrinkClass(_) =>
        val negative = primal.headers.sum(PassLayout.SLOPES)
        val positive = primal.headers.sum(PassLayout.SLOPES + 1)
        val lighter = math.min(negative, positive)
        def factor(sum: Double): Double = if (task.objective.intercept && sum > 0.0) lighter / sum else 1.0
        Array(factor(negative), factor(positive))
      case DualFeasibility.MixClasses(classes) =>
        val wanted = facts.labels.classWeights
        if (!task.objective.intercept) 0.0 +: Array.fill(classes)(1.0 / classes) :+ 1.0
        else {
          val predicted = Array.tabulate(classes)(c => wanted(c) + primal.intercepts(c))
          // A little more than necessary, because the sums are rounded.
          val least = wanted.indices.map(c => if (predicted(c) > 0.0) 1.0 - wanted(c) / predicted(c) else 0.0).max
          val eps = math.min(1.0, math.max(0.0, least) + MixingSlack)
          val rest = Array.tabulate(classes)(c => math.max(0.0, wanted(c) - (1.0 - eps) * predicted(c)))
          eps +: rest.map(_ / rest.sum) :+ 1.0
        }
    }
  }

  private def bound(dual: Passed): Double = {
    var conjugate = 0.0
    var j = 0
    while (j < n) {
      val scale = task.scaleOf(j)
      if (scale > 0.0) {
        val threshold = l1 / math.sqrt(scale)
        var c = 0
        while (c < task.outputs) {
          val excess = math.max(0.0, math.abs(dual.sums(c * (n + 1) + j)) / total - threshold)
          conjugate += excess * excess * scale
          c += 1
        }
      }
      j += 1
    }
    -dual.loss - conjugate / (2.0 * l2)
  }

  /** The largest |v_jc| over its L1 penalty. */
  private def excess(dual: Passed): Double = {
    var largest = 0.0
    var j = 0
    while (j < n) {
      val factor = math.sqrt(task.scaleOf(j)) / (total * l1)
      var c = 0
      while (c < task.outputs) {
        largest = math.max(largest, math.abs(dual.sums(c * (n + 1) + j)) * factor)
        c += 1
      }
      j += 1
    }
    largest
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

  /** The same with the pass at the model, in the layout of a pass: one more pass. */
  def renew(model: Array[Byte], primal: Passed): Unit = raise(certificate.dual(model, primal))

  /** Whether a model of this objective is proven to be as good as `tolerance` asks for. */
  def suffices(objective: Double, tolerance: Double): Boolean = objective - best <= tolerance * objective
}
