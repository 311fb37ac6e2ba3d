package dwell.solver.rows.leader

import breeze.linalg.{DenseVector => BDV}
import breeze.optimize.{BacktrackingLineSearch, DiffFunction}

/**
 * OWL-QN with the line search and the rules to stop of Breeze's, whose iterates it follows to rounding. Breeze calls
 * functions of boxed numbers for each coordinate, which with a million of them takes longer than the workers' pass over
 * the data.
 *
 * Source: Andrew and Gao, Scalable Training of L1-Regularized Log-Linear Models, ICML 2007.
 *
 * @param penalties
 *   L1 penalty of each coordinate, at least 0
 */
private[leader] final class OrthantWise(maxIterations: Int, memory: Int, tolerance: Double, penalties: Array[Double])
    extends LimitedMemory(maxIterations, memory, tolerance) {
  import LimitedMemory.{entries, norm}

  /** The quasi-Newton direction, without the entries that do not descend along the gradient. */
  override protected def chooseDescentDirection(state: State, f: DiffFunction[BDV[Double]]): BDV[Double] = {
    val direction = super.chooseDescentDirection(state, f)
    val d = entries(direction)
    val g = entries(state.adjustedGradient)
    var i = 0
    while (i < d.length) {
      if (!(d(i) * g(i) < 0.0)) d(i) = 0.0
      i += 1
    }
    direction
  }

  /** The step, without the entries that leave the orthant of the search. */
  override protected def takeStep(state: State, direction: BDV[Double], stepSize: Double): BDV[Double] = {
    val x = entries(state.x)
    val g = entries(state.adjustedGradient)
    val d = entries(direction)
    val result = new Array[Double](x.length)
    var i = 0
    while (i < result.length) {
      val stepped = x(i) + d(i) * stepSize
      val orthant = if (x(i) != 0.0) math.signum(x(i)) else math.signum(-g(i))
      result(i) = if (math.signum(stepped) == orthant) stepped else 0.0
      i += 1
    }
    BDV(result)
  }

  /** The objective with the L1 penalty, and the subgradient nearest to 0. */
  override protected def adjust(x: BDV[Double], gradient: BDV[Double], value: Double): (Double, BDV[Double]) = {
    val at = entries(x)
    val g = entries(gradient)
    val result = new Array[Double](g.length)
    var sum = value
    var i = 0
    while (i < result.length) {
      val penalty = penalties(i)
      sum += math.abs(penalty * at(i))
      result(i) =
        if (at(i) != 0.0) g(i) + math.signum(at(i)) * penalty
        else if (g(i) - penalty > 0.0) g(i) - penalty
        else if (g(i) + penalty < 0.0) g(i) + penalty
        else 0.0
      i += 1
    }
    (sum, BDV(result))
  }

  override protected def determineStepSize(
      state: State,
      f: DiffFunction[BDV[Double]],
      direction: BDV[Double]): Double = {
    val along = new DiffFunction[Double] {
      override def calculate(step: Double): (Double, Double) = {
        val x = takeStep(state, direction, step)
        val (value, gradient) = f.calculate(x)
        val (adjusted, subgradient) = adjust(x, gradient, value)
        (adjusted, subgradient.dot(direction))
      }
    }
    val first = state.iter < 1
    val search = new BacktrackingLineSearch(state.value, shrinkStep = if (first) 0.1 else 0.5)
    search.minimize(along, if (first) 0.5 / norm(entries(state.grad)) else 1.0)
  }
}
