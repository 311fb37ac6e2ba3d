package dwell.solver.newton.leader

import dwell.record.{FitFacts, RoundRecord}
import dwell.solver.linear.LinearProblem

/**
 * The certificate of a fit by proximal problems, F(w) - D(a) for the best w and the best a so far. It has two parts: F - Phi, what the
 * problem is away from F, and Phi - D, what the steps have left of the problem.
 */
private[leader] final class HingeProof(problem: LinearProblem, model: QuadraticModel, dualValue: DualValue) {
  import HingeProof._

  private var dual = Double.NegativeInfinity
  private var start = Double.NaN
  private var outer = 0.0
  private var inner = 0.0

  /** The model with the least objective, F. */
  var best = Array.emptyDoubleArray

  /** F of the best model. */
  var objective = Double.PositiveInfinity

  /** Takes a pass at a model into account. */
  def add(at: Array[Double], passed: PassOutcome): Unit = {
    val penalty = model.penalty(at)
    val reached = passed.hinge + penalty
    val bound = dualValue.at(passed)
    outer = passed.hinge - passed.loss
    inner = passed.loss + penalty - bound
    if (start.isNaN) start = reached
    if (reached < objective) {
      objective = reached
      best = at
    }
    dual = math.max(dual, bound)
  }

  /** A bound of F - F* for the best model. */
  def gap: Double = math.max(objective - dual, math.ulp(objective))

  /** Whether the gap is what the fit aims at. */
  def suffices: Boolean = gap <= problem.aim * objective || vanishes

  /** Whether the next problem has to begin, because this one is nearer to its own optimum than to F. */
  def isAhead: Boolean = inner <= outer && outer > Least * problem.aim * objective

  def facts(rounds: Seq[RoundRecord]): FitFacts = FitFacts(
    rounds = rounds,
    objective = objective,
    dual = objective - gap,
    converged = gap <= problem.tolerance * objective || vanishes)

  /** Classes that a plane separates leave no loss. */
  private def vanishes: Boolean = objective <= problem.tolerance * start
}

private object HingeProof {

  /** What the problem is away from F no longer matters below this part of the gap that a fit aims at. */
  private val Least = 0.1
}
