package dwell.solver.rows.leader

import breeze.linalg.{DenseVector => BDV}
import breeze.optimize.{DiffFunction, FirstOrderMinimizer, NaNHistory, StepSizeUnderflow, StrongWolfeLineSearch}
import breeze.optimize.FirstOrderMinimizer.{functionValuesConverged, maxIterationsReached, searchFailed, ConvergenceCheck}

/**
 * L-BFGS with the line search and the rules to stop of Breeze's, whose iterates it follows to rounding. Breeze visits
 * the last steps five times an iteration, which with a million coordinates takes longer than the workers' pass over the
 * data; [[Corrections]] take two visits.
 *
 * @param memory
 *   corrections that are kept
 */
private[leader] class LimitedMemory(maxIterations: Int, memory: Int, tolerance: Double)
    extends FirstOrderMinimizer[BDV[Double], DiffFunction[BDV[Double]]](LimitedMemory.ended(maxIterations, tolerance)) {
  import LimitedMemory._

  override type History = Corrections

  override protected def initialHistory(f: DiffFunction[BDV[Double]], start: BDV[Double]): Corrections =
    Corrections.none(memory)

  override protected def chooseDescentDirection(state: State, f: DiffFunction[BDV[Double]]): BDV[Double] =
    BDV(state.history.direction(entries(state.adjustedGradient)).getOrElse(throw new NaNHistory))

  override protected def takeStep(state: State, direction: BDV[Double], stepSize: Double): BDV[Double] = {
    val x = entries(state.x)
    val d = entries(direction)
    val result = new Array[Double](x.length)
    var i = 0
    while (i < result.length) {
      result(i) = x(i) + d(i) * stepSize
      i += 1
    }
    BDV(result)
  }

  override protected def updateHistory(
      newX: BDV[Double],
      newGradient: BDV[Double],
      newValue: Double,
      f: DiffFunction[BDV[Double]],
      old: State): Corrections =
    old.history.updated(difference(entries(newX), entries(old.x)), difference(entries(newGradient), entries(old.grad)))

  override protected def determineStepSize(
      state: State,
      f: DiffFunction[BDV[Double]],
      direction: BDV[Double]): Double = {
    val along = new DiffFunction[Double] {
      override def calculate(step: Double): (Double, Double) = {
        val (value, gradient) = f.calculate(takeStep(state, direction, step))
        (value, gradient.dot(direction))
      }
    }
    val search = new StrongWolfeLineSearch(maxZoomIter = 10, maxLineSearchIter = 10)
    val step = search.minimize(along, if (state.iter == 0) 1.0 / norm(entries(direction)) else 1.0)
    if (step * norm(entries(state.grad)) < LeastStep) throw new StepSizeUnderflow
    step
  }
}

private[leader] object LimitedMemory {

  /** A smaller step, times the norm of the gradient, ends the search, as in Breeze. */
  private val LeastStep = 1e-10

  /** Breeze's rules, as Spark sets them. Breeze's norm visits boxed numbers. */
  private def ended(maxIterations: Int, tolerance: Double): ConvergenceCheck[BDV[Double]] =
    maxIterationsReached[BDV[Double]](maxIterations) ||
      functionValuesConverged[BDV[Double]](tolerance, relative = true, ValuesCompared) ||
      ConvergenceCheck.fromPartialFunction[BDV[Double]] {
        case s if norm(entries(s.adjustedGradient)) <= math.max(tolerance * s.adjustedValue.abs, LeastGradient) =>
          FirstOrderMinimizer.GradientConverged
      } || searchFailed[BDV[Double]]

  private val ValuesCompared = 20
  private val LeastGradient = 1e-8

  /** The Euclidean norm. */
  def norm(x: Array[Double]): Double = {
    var sum = 0.0
    var i = 0
    while (i < x.length) {
      sum += x(i) * x(i)
      i += 1
    }
    math.sqrt(sum)
  }

  /** The entries themselves, not a copy. */
  def entries(vector: BDV[Double]): Array[Double] = {
    require(vector.offset == 0 && vector.stride == 1 && vector.data.length == vector.length, "a view of a vector")
    vector.data
  }

  private def difference(x: Array[Double], y: Array[Double]): Array[Double] = {
    val result = new Array[Double](x.length)
    var i = 0
    while (i < result.length) {
      result(i) = x(i) - y(i)
      i += 1
    }
    result
  }
}
