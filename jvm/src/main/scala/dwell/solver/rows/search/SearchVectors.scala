package dwell.solver.rows.search

import dwell.jni.NativeBridge

/**
 * The vectors of a search by L-BFGS, or by OWL-QN with an L1 penalty, each with n + 1 entries for each output: n coordinates, and the
 * intercept of centred features. All work on them is native. Corrections have single precision.
 *
 * @param space
 *   the coordinates and their penalties
 * @param memory
 *   corrections that are kept
 * @param threads
 *   threads for the work on corrections
 */
private[rows] final class SearchVectors(space: SearchSpace, start: Array[Double], memory: Int, threads: Int) {
  private val length = start.length
  private val hasL1 = space.l1 > 0.0
  private def vector: Array[Double] = new Array[Double](length)
  private def subvector: Array[Double] = if (hasL1) vector else null

  private var point = start
  private var next, gradient, nextGradient = vector
  private var subgradient, nextSubgradient = subvector
  private val direction = vector

  /** Steps and changes of the gradient, newest first. */
  private var pairs = Vector.empty[(Array[Float], Array[Float])]
  private var corrections = Corrections.Empty

  /** The products of the search's gradient with steps and changes. */
  private var alongSteps, alongChanges = Vector.empty[Double]

  /** The model after a step along the direction, in the layout of a pass. */
  def trial(step: Double): Array[Byte] = {
    val model = new Array[Byte](8 * length)
    NativeBridge.quasiNewtonTrial(
      space.outputs,
      space.scales,
      space.mean,
      point,
      direction,
      subgradient,
      step,
      next,
      model)
    model
  }

  /**
   * Takes the gradient at the last trial.
   *
   * @param sums
   *   the gradient of the sum of the losses by the model, in the layout of a pass
   * @param loss
   *   the mean loss
   */
  def evaluated(loss: Double, sums: Array[Double], total: Double): Evaluation = {
    val result = new Array[Double](5)
    NativeBridge.quasiNewtonGradient(
      space.outputs,
      space.scales,
      space.mean,
      space.factors,
      space.l1,
      space.l2,
      sums,
      total,
      next,
      direction,
      nextGradient,
      nextSubgradient,
      result)
    val smooth = loss + result(0)
    Evaluation(
      smooth,
      smooth + result(1),
      result(2),
      math.sqrt(result(3)),
      math.sqrt(if (hasL1) result(4) else result(3)))
  }

  /**
   * Makes the last trial the point.
   *
   * @param moved
   *   whether the step from the point before it becomes the newest correction
   */
  def accept(moved: Boolean): Unit = {
    if (moved) {
      val (step, change) =
        if (pairs.size < memory) (new Array[Float](length), new Array[Float](length)) else pairs.last
      pairs = (step, change) +: pairs.take(memory - 1)
      val size = pairs.size
      val sums = new Array[Double](6 * size)
      NativeBridge.quasiNewtonProducts(
        point,
        next,
        gradient,
        nextGradient,
        if (hasL1) nextSubgradient else nextGradient,
        history,
        threads,
        sums)
      // Of each array the products with the newest step, the newest change and the search's gradient.
      def products(arrays: Int, k: Int): Vector[Double] = Vector.tabulate(size)(i => sums(3 * (arrays * size + i) + k))
      corrections = corrections.updated(memory, products(1, 0), products(0, 1), products(1, 1))
      alongSteps = products(0, 2)
      alongChanges = products(1, 2)
    }
    val (oldPoint, oldGradient, oldSubgradient) = (point, gradient, subgradient)
    point = next
    next = oldPoint
    gradient = nextGradient
    nextGradient = oldGradient
    subgradient = nextSubgradient
    nextSubgradient = oldSubgradient
  }

  /** Forgets all corrections. */
  def forget(): Unit = {
    pairs = Vector.empty
    corrections = Corrections.Empty
  }

  /**
   * Turns to the next direction of descent. With an L1 penalty it has no entries that do not descend.
   *
   * @return
   *   None if the corrections give no direction
   */
  def turn(): Option[Direction] =
    corrections.direction(alongSteps, alongChanges).map { case (factor, factors) =>
      val result = new Array[Double](2)
      val search = if (hasL1) subgradient else gradient
      NativeBridge.quasiNewtonDirection(search, factor, history, factors, hasL1, threads, direction, result)
      Direction(math.sqrt(result(0)), result(1))
    }

  /** The model at the point, in the layout of a pass. */
  def model: Array[Byte] = trial(0.0)

  private def history: Array[Array[Float]] = (pairs.map(_._1) ++ pairs.map(_._2)).toArray
}

/**
 * The coordinates of a search and their penalties.
 *
 * @param scales
 *   of each feature: a coordinate is the coefficient times it; 0 if the coefficient is 0
 * @param mean
 *   of each feature; null without an intercept
 * @param factors
 *   r of each feature: the penalties of its coordinate x are l1 r |x| and l2 (r x)^2 / 2
 */
private[rows] final case class SearchSpace(
    outputs: Int,
    scales: Array[Double],
    mean: Array[Double],
    factors: Array[Double],
    l1: Double,
    l2: Double)

/**
 * A direction of a search.
 *
 * @param slope
 *   of the objective along it, at the point
 */
private[rows] final case class Direction(norm: Double, slope: Double)

/**
 * A trial of a search.
 *
 * @param smooth
 *   mean loss and L2 penalty
 * @param value
 *   the objective
 * @param slope
 *   along the direction
 * @param gradientNorm
 *   norm of the gradient of the smooth part
 * @param norm
 *   norm of the gradient, or of the subgradient nearest to 0
 */
private[rows] final case class Evaluation(
    smooth: Double,
    value: Double,
    slope: Double,
    gradientNorm: Double,
    norm: Double)
