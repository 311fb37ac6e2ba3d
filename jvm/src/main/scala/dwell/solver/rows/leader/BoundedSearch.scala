package dwell.solver.rows.leader

import dwell.base.LittleEndian
import dwell.fit.Timeline
import dwell.record.FitFacts
import dwell.solver.linear.{LinearSolution, ModelBounds, SoftmaxCentre}
import dwell.solver.rows.search.{BreezeRounds, BreezeSearch}

/**
 * L-BFGS for variables that have bounds, as in Spark: coefficients and intercepts with the user's, and the scale of errors, which is
 * positive. The workers compute the losses and their gradient; [[BreezeSearch]] does the rest.
 *
 * The variables have the layout of a pass. Coefficients are in units of their feature's deviation, and features are centred unless an
 * intercept has a bound.
 */
private[rows] final class BoundedSearch(passes: RowPasses[_], task: RowTask, timeline: Timeline) {
  import BoundedSearch._

  private val problem = task.problem
  private val facts = task.facts
  private val n = task.numFeatures
  private val outputs = task.outputs
  private val perOutput = task.vectorLength / outputs
  private val hasScale = problem.loss.epsilon.nonEmpty
  private val l2 = problem.penalty.l2

  /** The deviation of each feature, which for Spark is the sample's. */
  private val deviation = facts.deviation.map(_ * math.sqrt(facts.sampleFactor))

  /** Constant features, whose coefficients are 0. With a scale their variables are among Spark's, with an L2 penalty if features are standardised. */
  private val idleFeatures =
    if (hasScale && l2 > 0.0 && problem.penalty.scaleFactor > 0.0)
      deviation.indices.filterNot(deviation(_) > 0.0).toArray
    else Array.emptyIntArray
  private val mean = Option(facts.mean).filterNot(_ => problem.bounds.exists(_.holdIntercepts))

  private val lower = bounds(_.lower, _.lowerIntercepts, Bound(-Double.MaxValue, Double.MinPositiveValue))
  private val upper = bounds(_.upper, _.upperIntercepts, Bound(Double.MaxValue, Double.MaxValue))

  private val rounds = new BreezeRounds(timeline)

  /** Iterates until Spark's rule holds or no rounds are left. */
  def run(): LinearSolution = {
    val last = searched()
    val model = LittleEndian.doubles(modelOf(last.x))
    val ofModel = SoftmaxCentre(problem, passes.read(LittleEndian.bytes(withoutScale(model))))
    LinearSolution(
      ofModel.take(n * outputs),
      if (problem.intercept) ofModel.drop(n * outputs) else new Array[Double](outputs),
      FitFacts(rounds = timeline.records, objective = last.value - idle(last.x), converged = last.converged),
      scale = if (hasScale) Some(model.last) else None)
  }

  private def searched(): BreezeSearch.Point = {
    val from = if (hasScale) startOfScale else start
    for (i <- from.indices) from(i) = math.max(lower(i), math.min(upper(i), from(i)))
    val most = problem.maxRounds - timeline.rounds
    rounds.run(BreezeSearch.within(lower, upper, most, problem.tolerance)(evaluated).iterations(from))
  }

  /**
   * Spark's start for a loss with a scale: where errors are far below the label's deviation, searches from a better start, or with the
   * best scale at each point, have worse models than Spark's after as many iterations.
   */
  private def startOfScale: Array[Double] = {
    val x = Array.fill(task.vectorLength)(1.0)
    mean.foreach(of => (0 until n).foreach(j => if (deviation(j) > 0.0) x(n) += of(j) / deviation(j)))
    x
  }

  /** The variables of the user's model to start from, or of the best one without coefficients. */
  private def start: Array[Double] = {
    val x = new Array[Double](task.vectorLength)
    val (coefficients, intercepts) = problem.initial.getOrElse(
      (
        new Array[Double](n * outputs),
        if (problem.intercept) problem.loss.bestConstant(facts.labels) else Array.fill(outputs)(0.0)))
    for (c <- 0 until outputs) {
      var shift = 0.0
      for (j <- 0 until n) {
        val w = coefficients(j * outputs + c)
        x(c * perOutput + j) = w * deviation(j)
        mean.foreach(of => shift += of(j) * w)
      }
      x(c * perOutput + n) = intercepts(c) + shift
    }
    x
  }

  /** A bound for each variable; `ofScale` for the scale, if there is one. */
  private def bounds(
      ofCoefficients: ModelBounds => Array[Double],
      ofIntercepts: ModelBounds => Array[Double],
      none: Bound): Array[Double] =
    Array.tabulate(task.vectorLength) { i =>
      val (c, j) = (i / perOutput, i % perOutput)
      if (j > n) none.ofScale
      // Without an intercept, its variable stays 0.
      else if (j == n) if (problem.intercept) problem.bounds.fold(none.ofModel)(ofIntercepts(_)(c)) else 0.0
      else if (deviation(j) == 0.0 && !hasScale) 0.0
      else problem.bounds.fold(none.ofModel)(ofCoefficients(_)(j * outputs + c) * deviation(j))
    }

  /** The model at some variables, in the layout of a pass, little endian. */
  private def modelOf(x: Array[Double]): Array[Byte] = {
    val model = x.clone()
    for (c <- 0 until outputs) {
      val first = c * perOutput
      var j = 0
      while (j < n) {
        val d = deviation(j)
        model(first + j) = if (d > 0.0) x(first + j) / d else 0.0
        if (mean.nonEmpty) model(first + n) -= mean.get(j) * model(first + j)
        j += 1
      }
    }
    LittleEndian.bytes(model)
  }

  private def evaluated(x: Array[Double]): (Double, Array[Double]) = {
    val asked = System.nanoTime()
    val passed = passes.pass(modelOf(x), None, s"${timeline.rounds} rounds, line search")
    rounds.note(asked, passed.headers, passed.addSeconds)
    val total = facts.labels.totalWeight
    val gradient = passed.sums.map(_ / total)
    var penalty = 0.0
    for (c <- 0 until outputs) {
      val first = c * perOutput
      val slope = gradient(first + n)
      if (!problem.intercept) gradient(first + n) = 0.0
      var j = 0
      while (j < n) {
        val d = deviation(j)
        val i = first + j
        if (d > 0.0) {
          val scale = task.scaleOf(j)
          val w = x(i) / d
          val decay = if (scale > 0.0) l2 / scale else 0.0
          penalty += 0.5 * decay * w * w
          gradient(i) = (gradient(i) - mean.fold(0.0)(_(j) * slope) + decay * w) / d
        } else gradient(i) = 0.0
        j += 1
      }
    }
    idleFeatures.foreach(j => gradient(j) = l2 * x(j))
    (passed.loss + penalty + idle(x), gradient)
  }

  /** The penalty of constant features' variables. It is no part of the model's objective. */
  private def idle(x: Array[Double]): Double = idleFeatures.foldLeft(0.0)((sum, j) => sum + 0.5 * l2 * x(j) * x(j))

  private def withoutScale(model: Array[Double]): Array[Double] = if (hasScale) model.init else model
}

private object BoundedSearch {

  /** What stands where the user gives no bound. */
  private final case class Bound(ofModel: Double, ofScale: Double)
}
