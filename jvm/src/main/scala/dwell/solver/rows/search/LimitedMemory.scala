package dwell.solver.rows.search

import breeze.optimize.{BacktrackingLineSearch, DiffFunction, FirstOrderException, NaNHistory, StepSizeUnderflow, StrongWolfeLineSearch}

/**
 * L-BFGS, or OWL-QN with an L1 penalty, with the line searches and the rules to stop of Breeze's, whose iterates it follows as far
 * as single precision of the corrections does. Breeze visits the last steps five times an iteration, and calls functions of boxed numbers
 * for each coordinate, which with a million coordinates takes longer than the workers' pass over the data.
 *
 * Source of OWL-QN: Andrew and Gao, Scalable Training of L1-Regularized Log-Linear Models, ICML 2007.
 *
 * @param hasL1
 *   whether there is an L1 penalty
 */
private[rows] final class LimitedMemory(vectors: SearchVectors, hasL1: Boolean, maxIterations: Int, tolerance: Double) {
  import LimitedMemory._

  /** The step of the last trial, and what it found. */
  private var last = Option.empty[(Double, Evaluation)]

  /** The start and the iterations, up to the one at which a rule to stop holds. */
  def iterations: Iterator[Iteration] = new Iterator[Iteration] {
    private var before = Option.empty[Iteration]

    override def hasNext: Boolean = before.forall(_.end.isEmpty)

    override def next(): Iteration = {
      val iteration = before.fold(start())(after)
      before = Some(iteration)
      iteration
    }
  }

  private def start(): Iteration = {
    val found = at(0.0)
    vectors.accept(moved = false)
    ended(Iteration(0, found, math.abs(found.value), Vector(Double.PositiveInfinity), hasFailed = false, None))
  }

  private def after(state: Iteration): Iteration =
    try {
      val direction = vectors.turn().getOrElse(throw new NaNHistory)
      last = Some((0.0, state.found.copy(slope = direction.slope)))
      val found = at(stepLength(state, direction))
      vectors.accept(moved = true)
      last = None
      val values = (state.values :+ found.value).takeRight(ValuesCompared)
      ended(state.copy(number = state.number + 1, found = found, values = values, hasFailed = false))
    } catch {
      case _: FirstOrderException if !state.hasFailed =>
        vectors.forget()
        state.copy(hasFailed = true)
      case _: FirstOrderException => state.copy(end = Some(SearchFailed))
    }

  private def stepLength(state: Iteration, direction: Direction): Double = {
    val along = new DiffFunction[Double] {
      override def calculate(step: Double): (Double, Double) = {
        val found = at(step)
        (found.value, found.slope)
      }
    }
    val isFirst = state.number == 0
    if (hasL1) {
      val search = new BacktrackingLineSearch(state.found.smooth, shrinkStep = if (isFirst) 0.1 else 0.5)
      search.minimize(along, if (isFirst) 0.5 / state.found.gradientNorm else 1.0)
    } else {
      val search = new StrongWolfeLineSearch(maxZoomIter = 10, maxLineSearchIter = 10)
      val step = search.minimize(along, if (isFirst) 1.0 / direction.norm else 1.0)
      if (step * state.found.norm < LeastStep) throw new StepSizeUnderflow
      step
    }
  }

  private def at(step: Double): Evaluation = last match {
    case Some((`step`, found)) => found
    case _ =>
      val found = vectors.evaluate(step)
      last = Some((step, found))
      found
  }

  /** Breeze's rules, as Spark sets them. */
  private def ended(state: Iteration): Iteration = {
    val value = state.found.value
    val end =
      if (state.number >= maxIterations && maxIterations >= 0) Some(MaxIterations)
      else if (state.values.size >= 2 && math.abs(value - state.values.max) <= tolerance * state.initial)
        Some(Converged)
      else if (state.found.norm <= math.max(tolerance * math.abs(value), LeastGradient)) Some(Converged)
      else None
    state.copy(end = end)
  }
}

private[rows] object LimitedMemory {

  /** Why iterations end. */
  sealed trait End
  case object MaxIterations extends End
  case object Converged extends End

  /** Two searches in a row have failed, the second one without corrections. */
  case object SearchFailed extends End

  /**
   * The point after an iteration.
   *
   * @param number
   *   0 for the start
   * @param initial
   *   size of the objective at the start
   * @param values
   *   the last objectives, and infinity while they are few
   * @param hasFailed
   *   whether the search has failed since
   */
  final case class Iteration(
      number: Int,
      found: Evaluation,
      initial: Double,
      values: Vector[Double],
      hasFailed: Boolean,
      end: Option[End])

  /** A smaller step, times the norm of the gradient, ends the search, as in Breeze. */
  private val LeastStep = 1e-10
  private val ValuesCompared = 20
  private val LeastGradient = 1e-8
}
