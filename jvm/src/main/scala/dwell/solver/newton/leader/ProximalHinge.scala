package dwell.solver.newton.leader

import dwell.fit.Timeline
import dwell.jni.PassLayout
import dwell.problem.RowLoss
import dwell.record.{FitFacts, RoundRecord}
import dwell.solver.linear.{LinearProblem, LinearSolution}
import dwell.solver.pass.PassSums

/**
 * The hinge with an L2 penalty and few features, by the proximal point method on the dual variables of the rows (Rockafellar,
 * "Augmented Lagrangians and applications of the proximal point algorithm in convex programming", Mathematics of Operations Research
 * 1, 1976; for support vector machines Yan and Li, "An efficient augmented Lagrangian method for support vector machine",
 * Optimization Methods and Software 35, 2020). From the variables a' it goes to those that solve
 *
 * {{{
 *   min over w, b of  Phi = penalty(w) + (1/S) sum_i s_i max over 0 <= a_i <= 1 of [ a_i (1 - y_i z_i) - gamma (a_i - a'_i)^2 / 2 ]
 * }}}
 *
 * Phi has a derivative and is piecewise quadratic, so that Newton's method ends after a few steps of one pass each. a' follows from the
 * models where earlier problems ended: workers keep no state. The optimum has the true corner for any gamma; smaller ones take fewer
 * problems, of more steps each.
 *
 * '''The certificate''' is [[HingeProof]]. The next problem begins as soon as Phi - D is less than F - Phi.
 */
private[newton] final class ProximalHinge(
    hinge: RowLoss,
    workers: PassWorkers,
    task: NewtonTask,
    completed: RoundRecord => Unit) {
  import ProximalHinge._

  private val problem = task.problem
  private val shape = task.shape
  private val triangles = PassLayout.triangles(shape.features, shape.more, shape.outputs)
  private val timeline = new Timeline(completed)
  private val passes = new PassRounds(workers, timeline)

  /** By how many times the length of the gradient the Hessian is raised, see [[damped]]. */
  private var damping = 1.0

  /** Iterates until the certificate suffices or no rounds are left. */
  def run(): LinearSolution = {
    var at = problem.initial.fold(new Array[Double](shape.variables)) { case (coefficients, intercepts) =>
      workers.centred(coefficients, intercepts)
    }
    var corner = Corner(hinge, if (problem.initial.isEmpty) Widest else Warm, Array.emptyDoubleArray)
    var passed = pass(at, corner, moments = true)
    val variances = passed.variances
    val model = QuadraticModel.of(task, variances)
    val proof = new HingeProof(problem, model, DualValue.ofHinge(task, model, passed))
    proof.add(at, passed)
    timeline.begin(proof.objective, proof.gap)
    var stands = 0
    while (!proof.suffices && stands < MostStands && timeline.rounds < problem.maxRounds) {
      if (stands > 0 || proof.isAhead) {
        corner = Corner(hinge, math.max(Sharpest, Sharper * corner.gamma), corner.earlier ++ at :+ corner.gamma)
        passed = pass(at, corner)
        proof.add(at, passed)
      }
      if (!proof.suffices) {
        val value = passed.loss + model.penalty(at)
        val sums = damped(passed, at, model, variances)
        val step = model.minimise(sums, triangles, passed.gradient, at, value, null)
        advance(model, at, step, value, corner) match {
          case Some((next, there)) =>
            at = next
            passed = there
            stands = 0
            proof.add(at, passed)
          case None => stands += 1
        }
      }
      passes.record(proof.objective, proof.gap)
    }
    LinearSolution(shape.coefficients(proof.best), workers.intercepts(proof.best), proof.facts(timeline.records))
  }

  /**
   * The model after a Newton step or a part of it, and the pass there; None if no part lowers Phi. The pass after the whole step has the
   * losses after some of its parts as well, so that a step which is too long seldom takes a third pass. Such a step raises the damping, and
   * one that brings most of what the model promises lowers it (Levenberg and Marquardt; Nocedal and Wright, Numerical Optimization, 2006,
   * section 10.3).
   */
  private def advance(
      model: QuadraticModel,
      at: Array[Double],
      step: QuadraticStep,
      value: Double,
      corner: Corner): Option[(Array[Double], PassOutcome)] = {
    val next = model.moved(at, step.step, 1.0)
    val there = pass(next, corner, line = Line(step.step, Parts.map(_ - 1.0)))
    val decrease = value - there.loss - model.penalty(next)
    if (decrease >= Armijo * step.decrease) {
      if (decrease > Good * step.decrease) damping = math.max(1.0, damping / Easier)
      Some((next, there))
    } else {
      val part = PassRounds.lowest(model, at, step.step, value, Parts, there.along)
      val length = if (part > 0.0) part else passes.shorter(model, at, step.step, value, Some(corner))
      damping *= (if (length > 0.0) math.min(1.0 / length, MostHarder) else MostHarder)
      if (length > 0.0) Some {
        val nearer = model.moved(at, step.step, length)
        (nearer, pass(nearer, corner))
      }
      else None
    }
  }

  /**
   * The sums of a pass, with the Hessian raised by as much as the gradient is long, times the damping: where few rows have a curvature, a step would go far
   * beyond the rows that it counts on. Near the optimum of Phi nothing is left of it.
   */
  private def damped(
      passed: PassOutcome,
      at: Array[Double],
      model: QuadraticModel,
      variances: Array[Double]): Array[Double] = {
    val vector = passed.vector.clone()
    val gradient = Array.tabulate(shape.variables)(j => passed.vector(j) + model.l2(j) * at(j))
    val moving = (0 until shape.features).filterNot(model.fixed(_))
    val length = math.sqrt(moving.map(j => gradient(j) * gradient(j) / variances(j)).sum)
    for (j <- 0 until shape.variables) {
      val more = damping * (if (j < shape.features) length * variances(j) else math.abs(gradient(j)))
      vector(triangles + j * (j + 3) / 2) += more
    }
    vector
  }

  private def pass(at: Array[Double], corner: Corner, moments: Boolean = false, line: Line = Line.none): PassOutcome = {
    val sums = PassSums(gradient = true, hessian = true, moments)
    passes.pass(at, sums, Array.emptyDoubleArray, Some(corner), s"${timeline.rounds} rounds, proximal Newton", line)
  }
}

private object ProximalHinge {

  /** The first gamma, where all rows have a curvature at a model of zeros; and after a start near the optimum. */
  private val Widest = 2.0
  private val Warm = 0.5

  /** From one problem to the next, down to the sharpest. Smaller factors take fewer problems, and more steps in all. */
  private val Sharper = 0.5
  private val Sharpest = 1e-5

  /** The share of the decrease that the model promises which a step has to bring (Armijo). */
  private val Armijo = 1e-4

  /** The share that makes a step a good one, and by how much the damping then falls; and by how much it rises at most after a step that is too long. */
  private val Good = 0.5
  private val Easier = 2.0
  private val MostHarder = 4.0

  /** Parts of a step. They are close together, because along a piecewise parabola the best part counts. */
  private val Parts = Array.tabulate(12)(k => math.pow(0.7, k + 1.0))

  /** Problems in a row of which no step lowers Phi. */
  private val MostStands = 3
}

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
