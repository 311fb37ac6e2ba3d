package dwell.solver.cd.leader

import dwell.base.LittleEndian
import dwell.data.rows.RowSummary
import dwell.fit.ResultHeaders
import dwell.jni.CdLayout
import dwell.problem.{DualFeasibility, LabelFacts, MarginLoss, SoftThreshold}
import dwell.solver.cd.step.{StepFunction, StepValue}
import dwell.solver.cd.worker.{DualSubproblem, Subproblem}
import dwell.solver.linear.LinearProblem

/**
 * The parts of a dual leader that do not depend on the choice of the step: the regulariser, the certificate and its
 * intercept.
 *
 * Dual variables a have, in units of coefficients, `Z = scale * sum_i s_i a_i (x_i - mean) / (S l2)`, and the
 * coefficients `w = soft(Z, (l1/l2) sqrt(scale))` (Shalev-Shwartz and Zhang 2014, section 2; `scale` is one over the
 * squared factor by which the penalty of a feature is multiplied). The dual objective, to be minimised, is
 * `C(a) + sum_j l2 w_j^2 / (2 scale_j)` with `C(a) = sum_i s_i/S loss*(-a_i)`.
 *
 * An intercept that is not penalised adds the constraint `sum_i s_i a_i = 0`, which steps along single coordinates
 * cannot keep. The steps treat the intercept as one more feature, of constant value 1, with a quadratic term of its own
 * that vanishes at the optimum. No reported value contains that term: the primal value has an unpenalised
 * intercept, and the dual value is taken at a point that satisfies the constraint.
 *
 * @param n
 *   number of features
 */
private[solver] abstract class DualLeader(
    data: RowSummary,
    n: Int,
    labels: LabelFacts,
    loss: MarginLoss,
    problem: LinearProblem)
    extends CdLeader {
  import DualLeader._

  protected final val l2: Double = problem.penalty.l2
  protected final val centred: Boolean = problem.intercept

  /**
   * Weight of the intercept's feature: a few times the mean eigenvalue of the rows' Gram matrix over their number, so
   * that the intercept is as stiff as the other features. Without other features any positive number will do.
   */
  protected final val nu: Double =
    if (!centred) 0.0
    else if (data.meanSquareNorm > 0.0) {
      math.max(leastNu, InterceptStiffness * data.meanSquareNorm / math.min(n, data.rowsPerPartition.sum))
    } else 1.0

  /** The least weight with which the intercept itself does not take many rounds. */
  protected def leastNu: Double

  /** The intercept of the best model without coefficients. */
  protected final val interceptAlone: Double = if (centred) loss.bestConstant(labels)(0) else 0.0

  /** The coefficients at which the next round starts. */
  protected final val w: Array[Double] = new Array[Double](n)

  /** The intercept at which the next round starts, of centred features. */
  protected def intercept: Double

  private var spacing = FirstSpacing
  // The best model so far is the one without coefficients, and no objective is below 0.
  private val bestCoefficients = new Array[Double](n)
  private var bestIntercept = interceptAlone
  private var best = loss.meanAt(Array(interceptAlone), labels)
  private var bound = 0.0
  private var worstDrift = 0.0

  override final def vectorLength: Int = n
  override final def totalWeight: Double = labels.totalWeight
  override final def upperBound: Double = best
  override final def lowerBound: Double = bound
  override final def drift: Double = worstDrift

  override final def shared: Array[Byte] = LittleEndian.bytes(w)

  override final def subproblem: Subproblem =
    DualSubproblem(loss, l2, if (centred) data.meanScaleMean + nu else 0.0, offset, candidates)

  /** The model with the lowest primal value. In this orientation the leader holds the coefficients itself. */
  override final def model(collected: Array[(Array[Int], Array[Double])], numFeatures: Int): (Array[Double], Double) =
    (bestCoefficients.clone(), bestIntercept)

  /** The intercept of uncentred features. */
  private def offset: Double = if (centred) intercept - meanOfMargins else 0.0

  private def meanOfMargins: Double = {
    var sum = 0.0
    var j = 0
    while (j < n) {
      sum += data.mean(j) * w(j)
      j += 1
    }
    sum
  }

  /**
   * Intercepts at which the workers measure the loss. Any intercept gives an upper bound. The best of a few candidates
   * around the present one is close enough, because the error is of second order and the spacing adapts.
   */
  private def candidates: Array[Double] =
    if (!centred) Array(0.0)
    else if (loss.isParabola) Array(labels.mean - meanOfMargins)
    else {
      val middle = offset
      CandidateSteps.map(middle + spacing * _)
    }

  override final def certify(headers: ResultHeaders): Unit = {
    val intercepts = candidates
    val values = intercepts.indices.map(c => headers.sum(CdLayout.LOSSES + c))
    val lowest = values.indices.minBy(values(_))
    val value = values(lowest) + penalty
    if (value < best) {
      best = value
      System.arraycopy(w, 0, bestCoefficients, 0, n)
      bestIntercept = intercepts(lowest)
    }
    if (intercepts.length > 1) {
      val step = math.abs(CandidateSteps(lowest))
      spacing = math.max(
        math.ulp(math.abs(intercepts(lowest))) * SpacingUlps,
        spacing * (if (step >= WidestStep) Widen else if (step < 1.0) Narrow else 1.0))
    }
  }

  /**
   * Raises the lower bound to the dual value of dual variables, after a correction that makes them feasible.
   *
   * @param z
   *   Z of the dual variables
   * @param kappa
   *   `sum_i s_i a_i / (S l2)`
   * @param conjugate
   *   C of the dual variables
   */
  protected final def raiseBound(z: Array[Double], kappa: Double, conjugate: Double): Unit = {
    bound = math.max(bound, feasibleDual(z, kappa, conjugate))
    if (best - bound < -CdLeader.Rounding * math.max(math.abs(best), 1.0)) {
      throw new IllegalStateException(
        s"${problem.uid}: the duality gap is ${best - bound}, and no gap can be negative: the workers' state is corrupt. " +
          "Please report this.")
    }
  }

  /** Records the relative difference between a value computed anew and the carried one. */
  protected final def measureDrift(exact: Double, carried: Double): Unit =
    if (exact != carried) {
      worstDrift = math.max(worstDrift, math.abs(exact - carried) / math.max(math.abs(exact), math.abs(carried)))
    }

  /**
   * The dual value at a point near the given one that satisfies the constraint of the intercept.
   *
   * Squared loss: all a_i minus their mean, which does not change Z of centred features. Classification: a mixture with
   * the point that has p = 1 on all rows of the lighter class and 0 elsewhere. Conjugates are convex, so their sum at
   * the mixture is at most the mixture of the sums, and the value is a lower bound.
   */
  private def feasibleDual(z: Array[Double], kappa: Double, conjugate: Double): Double = {
    val imbalance = l2 * kappa
    if (!centred || imbalance == 0.0) -conjugate - regulariser(z, 0.0)
    else {
      loss.feasibility match {
        case DualFeasibility.Shift =>
          -(conjugate - imbalance * imbalance / 2.0 + imbalance * labels.mean) - regulariser(z, 0.0)
        case DualFeasibility.ShrinkClass(conjugateOfOne) =>
          val Array(negative, positive) = labels.classWeights
          val classWeight = (if (imbalance > 0.0) negative else positive) / totalWeight
          val share = math.abs(imbalance) / (math.abs(imbalance) + classWeight)
          val ofOnes = classWeight * conjugateOfOne
          -((1.0 - share) * conjugate + share * ofOnes) - regulariser(z, share)
        case DualFeasibility.MixClasses(_) =>
          throw new IllegalArgumentException(
            s"${problem.uid}: the dual form has one variable a row, and the $loss several")
      }
    }
  }

  /**
   * The conjugate of the regulariser at the mixture of Z with the Z of a class, whose part is `share`. Both classes
   * have the same Z, because the sums of the centred features over them are opposite.
   */
  protected final def regulariser(z: Array[Double], share: Double): Double = {
    var sum = 0.0
    var j = 0
    while (j < n) {
      val scale = scaleOf(j)
      if (scale > 0.0) {
        val mixed =
          if (share == 0.0) z(j)
          else {
            val sums = data.classSums
            val ofClass = scale / (totalWeight * l2) * (sums.positive(j) - sums.positiveWeight * data.mean(j))
            (1.0 - share) * z(j) + share * ofClass
          }
        val coefficient = coefficientOf(mixed, scale)
        sum += coefficient * coefficient / scale
      }
      j += 1
    }
    l2 * sum / 2.0
  }

  private def penalty: Double = {
    var sizes, squares = 0.0
    var j = 0
    while (j < n) {
      val scale = scaleOf(j)
      if (scale > 0.0) {
        sizes += math.abs(w(j)) / math.sqrt(scale)
        squares += w(j) * w(j) / scale
      }
      j += 1
    }
    problem.penalty.l1 * sizes + l2 * squares / 2.0
  }

  /** Turns the product with uncentred features into the product with centred ones, in place. */
  protected final def centre(vector: Array[Double], kappa: Double): Unit = if (centred) {
    var j = 0
    while (j < n) {
      vector(j) -= kappa * scaleOf(j) * data.mean(j)
      j += 1
    }
  }

  /** One over the squared penalty factor of feature j. */
  protected final def scaleOf(j: Int): Double = if (data.scale == null) 1.0 else data.scale(j)

  /** The coefficient that belongs to an entry of Z. */
  protected final def coefficientOf(z: Double, scale: Double): Double = soft(z, scale, 1.0)

  /** Soft threshold at a multiple of a feature's L1 penalty, in units of coefficients. */
  protected final def soft(value: Double, scale: Double, multiple: Double): Double =
    if (problem.penalty.l1 == 0.0) value
    else SoftThreshold(value, multiple * problem.penalty.l1 / l2 * math.sqrt(scale))

  /** The conjugate of the regulariser along two directions from `z`. Each evaluation is a pass over the features. */
  protected final def regulariserAlong(z: Array[Double], first: Array[Double], second: Array[Double]): StepFunction = {
    def at(g1: Double, g2: Double): StepValue = {
      var value, slope1, slope2, curve11, curve12, curve22 = 0.0
      var j = 0
      while (j < n) {
        val scale = scaleOf(j)
        if (scale > 0.0) {
          val before = coefficientOf(z(j), scale)
          val moved = coefficientOf(z(j) + (g1 * first(j) + g2 * second(j)), scale)
          val factor = l2 / scale
          value += factor * (moved - before) * (moved + before) / 2.0
          slope1 += factor * moved * first(j)
          slope2 += factor * moved * second(j)
          if (moved != 0.0 || problem.penalty.l1 == 0.0) {
            curve11 += factor * first(j) * first(j)
            curve12 += factor * first(j) * second(j)
            curve22 += factor * second(j) * second(j)
          }
        }
        j += 1
      }
      StepValue(value, slope1, slope2, curve11, curve12, curve22)
    }
    if (problem.penalty.l1 > 0.0) (g1, g2) => at(g1, g2)
    else {
      val origin = at(0.0, 0.0)
      StepFunction.quadratic(origin.slope1, origin.slope2, origin.curve11, origin.curve12, origin.curve22)
    }
  }
}

private[solver] object DualLeader {

  /**
   * Values from 2 to 6 needed the fewest rounds for all losses, on wide and on tall data, standardised and not; 20
   * needed twice as many (bench/results/2026-11-21-spark/intercept.md).
   */
  private val InterceptStiffness = 3.0

  /** Margins are of the order of 1, and so is the first guess of the intercept's error. */
  private val FirstSpacing = 0.5
  private val CandidateSteps = Array(0.0, -0.3, 0.3, -1.0, 1.0, -3.0, 3.0)
  private val WidestStep = 3.0
  private val Widen = 3.0
  private val Narrow = 0.3

  /** Candidates closer than this are equal. */
  private val SpacingUlps = 4.0
}
