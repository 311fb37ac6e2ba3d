package dwell.solver.rows.leader

import breeze.linalg.{DenseVector => BDV}
import breeze.optimize.{CachedDiffFunction, DiffFunction}

import dwell.fit.{ResultHeaders, Timeline}
import dwell.jni.ResultHeader

/**
 * L-BFGS, or OWL-QN with an L1 penalty, as in Spark, for smooth losses. The workers compute the losses and
 * their gradient; the leader does the rest.
 *
 * As in Spark, features are scaled to the same deviation, and centred if there is an intercept, for every penalty. The
 * coordinates are theta_jc = d_j w_jc, with d_j the deviation of feature j, and the intercept of centred features. The
 * data do not change.
 *
 * @param proof
 *   ends the iterations once the gap is at most the tolerance, or, without one, Spark's rule does
 * @param slack
 *   how far the objective of the fit may be above the objective with this loss, for the records
 */
private[rows] final class QuasiNewton(
    passes: RowPasses[_],
    task: SgdTask,
    timeline: Timeline,
    proof: Option[Proof],
    slack: Double = 0.0) {
  import QuasiNewton._

  private val problem = task.problem
  private val facts = task.facts
  private val n = task.numFeatures
  private val outputs = task.outputs
  private val first = n * outputs
  private val variables = if (task.sgd.intercept) first + outputs else first

  /** u_j / d_j: the factor of the penalty for a coordinate of feature j. */
  private val weights = Array.tabulate(n) { j =>
    val scale = task.scaleOf(j)
    if (facts.deviation(j) > 0.0 && scale > 0.0) 1.0 / (math.sqrt(scale) * facts.deviation(j)) else 0.0
  }

  /** The evaluations since the last iteration, and the time that the leader has left to them. Each is an epoch. */
  private var evaluations = Seq.empty[ResultHeaders]
  private var leftSeconds = 0.0

  /** Iterates from `start` until convergence or until no rounds are left. */
  def run(start: Reached): Reached = {
    val cost = new CachedDiffFunction(new DiffFunction[BDV[Double]] {
      override def calculate(theta: BDV[Double]): (Double, BDV[Double]) = QuasiNewton.this.calculate(theta)
    })
    val most = problem.maxRounds - timeline.rounds
    val optimizer =
      if (task.sgd.penalty.l1 == 0.0) new LimitedMemory(most, Memory, tolerance)
      else {
        val penalties =
          Array.tabulate(variables)(i => if (i < first) task.sgd.penalty.l1 * weights(i / outputs) else 0.0)
        new OrthantWise(most, Memory, tolerance, penalties)
      }
    var clock = System.nanoTime()
    val states = optimizer.iterations(cost, BDV(scaled(start.model)))
    var reached = start
    while (states.hasNext && !proof.exists(_.suffices(reached.objective, problem.tolerance))) {
      val state = states.next()
      // The first state is the start, and no iteration precedes it.
      if (state.iter > 0) {
        if (state.iter % Proof.Every == 0) proof.foreach(_.renew(model(state.x.toArray)))
        timeline.add(
          state.adjustedValue + slack,
          state.adjustedValue + slack - proof.fold(Double.NaN)(_.lowerBound),
          clock,
          driverSeconds = (System.nanoTime() - clock) * 1e-9 - leftSeconds,
          evaluations.size.toDouble,
          evaluations.last,
          earlierWork = evaluations.init.map(_.largest(ResultHeader.SOLVER_NANOS) * 1e-9).sum)
      }
      clock = System.nanoTime()
      evaluations = Seq.empty
      leftSeconds = 0.0
      reached = Reached(
        model(state.x.toArray),
        state.adjustedValue,
        state.convergenceReason.exists(_ != breeze.optimize.FirstOrderMinimizer.MaxIterations))
    }
    if (proof.exists(_.suffices(reached.objective, problem.tolerance))) reached.copy(converged = true) else reached
  }

  /** Spark's rule is the relative decrease of the last iterations. With a proof to come, it only notices that there is none. */
  private def tolerance: Double = if (proof.isEmpty) problem.tolerance else problem.tolerance * Standstill

  /** The smooth part of the objective, and its gradient. OWL-QN adds the L1 penalty itself. */
  private def calculate(theta: BDV[Double]): (Double, BDV[Double]) = {
    val at = theta.toArray
    val asked = System.nanoTime()
    val evaluated = passes.evaluate(model(at), None, f"${timeline.rounds}%d rounds, line search")
    evaluations :+= evaluated.headers
    leftSeconds += (System.nanoTime() - asked) * 1e-9 - evaluated.addSeconds
    val g = evaluated.gradient
    val gradient = new Array[Double](variables)
    var squares = 0.0
    var j = 0
    while (j < n) {
      val deviation = facts.deviation(j)
      if (deviation > 0.0) {
        val mean = if (facts.mean == null) 0.0 else facts.mean(j)
        val l2 = task.sgd.penalty.l2 * weights(j) * weights(j)
        var c = 0
        while (c < outputs) {
          val i = j * outputs + c
          gradient(i) = (g(i) - mean * g(first + c)) / deviation + l2 * at(i)
          squares += l2 * at(i) * at(i)
          c += 1
        }
      }
      j += 1
    }
    if (task.sgd.intercept) System.arraycopy(g, first, gradient, first, outputs)
    (evaluated.loss + 0.5 * squares, BDV(gradient))
  }

  /** The model with these coordinates. */
  private def model(theta: Array[Double]): Array[Double] = {
    val result = new Array[Double](task.vectorLength)
    if (task.sgd.intercept) System.arraycopy(theta, first, result, first, outputs)
    var j = 0
    while (j < n) {
      if (facts.deviation(j) > 0.0) {
        val mean = if (facts.mean == null) 0.0 else facts.mean(j)
        var c = 0
        while (c < outputs) {
          val w = theta(j * outputs + c) / facts.deviation(j)
          result(j * outputs + c) = w
          if (task.sgd.intercept) result(first + c) -= mean * w
          c += 1
        }
      }
      j += 1
    }
    result
  }

  /** The coordinates of a model. */
  private def scaled(model: Array[Double]): Array[Double] = {
    val theta = new Array[Double](variables)
    if (task.sgd.intercept) System.arraycopy(model, first, theta, first, outputs)
    var j = 0
    while (j < n) {
      val mean = if (facts.mean == null) 0.0 else facts.mean(j)
      var c = 0
      while (c < outputs) {
        val w = model(j * outputs + c)
        theta(j * outputs + c) = w * facts.deviation(j)
        if (task.sgd.intercept) theta(first + c) += mean * w
        c += 1
      }
      j += 1
    }
    theta
  }
}

private[solver] object QuasiNewton {

  /** The bytes of the leader's vectors: corrections, and some at work. */
  def bytes(numFeatures: Int, outputs: Int): Long = (2L * Memory + 10L) * 8L * numFeatures * outputs

  /** An iteration that decreases the objective by less than this part of the tolerance brings no proof nearer. */
  private val Standstill = 1e-3

  /** Number of corrections that the optimizer keeps, as in Spark. */
  private val Memory = 10
}
