package dwell.solver.sgd.leader

import breeze.linalg.{DenseVector => BDV}
import breeze.optimize.{DiffFunction, OWLQN}

/**
 * OWL-QN of Breeze with its work on vectors in plain loops, to the same bits. Breeze calls functions of boxed numbers
 * for each coordinate, which with a million of them takes longer than the workers' pass over the data.
 *
 * Source: Andrew and Gao, Scalable Training of L1-Regularized Log-Linear Models, ICML 2007.
 *
 * @param penalties
 *   L1 penalty of each coordinate, at least 0
 */
private[leader] final class OrthantWise(maxIterations: Int, memory: Int, tolerance: Double, penalties: Array[Double])
    extends OWLQN[Int, BDV[Double]](maxIterations, memory, (i: Int) => penalties(i), tolerance) {

  /** The quasi-Newton direction, without the entries that do not descend along the gradient. */
  override protected def chooseDescentDirection(state: State, f: DiffFunction[BDV[Double]]): BDV[Double] = {
    val direction = state.history * state.adjustedGradient
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

  /** The entries themselves, not a copy. */
  private def entries(vector: BDV[Double]): Array[Double] = {
    require(vector.offset == 0 && vector.stride == 1 && vector.data.length == vector.length, "a view of a vector")
    vector.data
  }
}
