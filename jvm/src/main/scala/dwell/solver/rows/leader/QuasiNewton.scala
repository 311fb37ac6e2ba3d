package dwell.solver.rows.leader

import dwell.base.LittleEndian
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
  private val l1 = task.sgd.penalty.l1

  private val space = SearchSpace(
    task.outputs,
    facts.deviation,
    facts.mean,
    Array.tabulate(n) { j =>
      val scale = task.scaleOf(j)
      if (facts.deviation(j) > 0.0 && scale > 0.0) 1.0 / (math.sqrt(scale) * facts.deviation(j)) else 0.0
    },
    l1,
    task.sgd.penalty.l2)

  /** The evaluations since the last iteration, and the time that the leader has left to them. Each is an epoch. */
  private var evaluations = Seq.empty[ResultHeaders]
  private var leftSeconds = 0.0

  /** Iterates from `start` until convergence or until no rounds are left. */
  def run(start: Reached): Reached = {
    val vectors = new SearchVectors(space, scaled(start.model), Memory)
    def model = passes.ofModel(LittleEndian.doubles(vectors.model))
    val most = problem.maxRounds - timeline.rounds
    var clock = System.nanoTime()
    val iterations = new LimitedMemory(vectors, l1 > 0.0, most, tolerance)(evaluated(vectors, _)).iterations
    var reached = start
    while (iterations.hasNext && !proof.exists(_.suffices(reached.objective, problem.tolerance))) {
      val iteration = iterations.next()
      val value = iteration.found.value
      // The first one is the start. After a failed search, the point is the one before it.
      if (iteration.number > 0 && evaluations.nonEmpty) {
        if (iteration.number % Proof.Every == 0) proof.foreach(_.renew(model))
        timeline.add(
          value + slack,
          value + slack - proof.fold(Double.NaN)(_.lowerBound),
          clock,
          driverSeconds = (System.nanoTime() - clock) * 1e-9 - leftSeconds,
          evaluations.size.toDouble,
          evaluations.last,
          earlierWork = evaluations.init.map(_.largest(ResultHeader.SOLVER_NANOS) * 1e-9).sum)
      }
      clock = System.nanoTime()
      evaluations = Seq.empty
      leftSeconds = 0.0
      reached = reached.copy(objective = value, converged = iteration.end.exists(_ != LimitedMemory.MaxIterations))
    }
    Reached(
      model,
      reached.objective,
      reached.converged || proof.exists(_.suffices(reached.objective, problem.tolerance)))
  }

  /** Spark's rule is the relative decrease of the last iterations. With a proof to come, it only notices that there is none. */
  private def tolerance: Double = if (proof.isEmpty) problem.tolerance else problem.tolerance * Standstill

  private def evaluated(vectors: SearchVectors, model: Array[Byte]): Evaluation = {
    val asked = System.nanoTime()
    val passed = passes.pass(model, None, f"${timeline.rounds}%d rounds, line search")
    evaluations :+= passed.headers
    leftSeconds += (System.nanoTime() - asked) * 1e-9 - passed.addSeconds
    vectors.evaluated(passed.loss, passed.sums, facts.labels.totalWeight)
  }

  /** The coordinates of a model, in the layout of a pass. */
  private def scaled(model: Array[Double]): Array[Double] = {
    val theta = passes.ofPass(model).clone
    for (c <- 0 until task.outputs) {
      val first = c * (n + 1)
      var j = 0
      while (j < n) {
        if (facts.mean != null) theta(first + n) += facts.mean(j) * theta(first + j)
        theta(first + j) *= facts.deviation(j)
        j += 1
      }
    }
    theta
  }
}

private[solver] object QuasiNewton {

  /** The bytes of the leader's vectors: corrections, in single precision, and some at work. */
  def bytes(numFeatures: Int, outputs: Int): Long = (2L * Memory * 4L + 12L * 8L) * numFeatures * outputs

  /** An iteration that decreases the objective by less than this part of the tolerance brings no proof nearer. */
  private val Standstill = 1e-3

  /** Number of corrections that the optimizer keeps, as in Spark. */
  private val Memory = 10
}
