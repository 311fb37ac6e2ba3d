package dwell.solver.rows.search

import dwell.jni.NativeBridge

/**
 * Vectors of a search by L-BFGS, or by OWL-QN with an L1 penalty: all coordinates, or some blocks of them. All work on them is native.
 * Corrections have single precision. Sums are by block.
 *
 * @param space
 *   of these coordinates
 * @param ends
 *   of the blocks
 * @param start
 *   the first point
 * @param memory
 *   corrections that are kept
 * @param threads
 *   threads for the work
 */
private[rows] final class SearchSlice(
    space: SearchSpace,
    ends: Array[Int],
    start: Array[Double],
    memory: Int,
    threads: Int) {
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

  /** The coefficients after a step along the direction, with intercepts of centred features, and for each block the part of the centre. */
  def trial(step: Double): (Array[Byte], Array[Double]) = {
    val model = new Array[Byte](8 * length)
    val centres = new Array[Double](ends.length)
    NativeBridge.quasiNewtonTrial(
      ends,
      space.scales,
      space.mean,
      point,
      direction,
      subgradient,
      step,
      threads,
      next,
      model,
      centres)
    (model, centres)
  }

  /**
   * Takes the gradient at the last trial; gives the five sums of [[dwell.jni.NativeBridge]] for each block.
   *
   * @param sums
   *   the gradient of the sum of the losses by the model
   * @param total
   *   sum of the weights of all rows
   * @param intercepts
   *   for each block the derivative of the mean loss by the intercept of its output
   */
  def evaluated(sums: Array[Double], total: Double, intercepts: Array[Double]): Array[Double] = {
    val result = new Array[Double](5 * ends.length)
    NativeBridge.quasiNewtonGradient(
      ends,
      space.scales,
      space.mean,
      space.factors,
      space.l1,
      space.l2,
      sums,
      total,
      intercepts,
      next,
      direction,
      threads,
      nextGradient,
      nextSubgradient,
      result)
    result
  }

  /**
   * Makes the last trial the point.
   *
   * @param moved
   *   whether the step from the point before it becomes the newest correction
   * @return
   *   if it has moved, for each block and each step, newest first, and then each change of the gradient: its products with the newest
   *   step, the newest change and the search's gradient
   */
  def accept(moved: Boolean): Array[Double] = {
    val products = if (moved) corrected() else Array.emptyDoubleArray
    val (oldPoint, oldGradient, oldSubgradient) = (point, gradient, subgradient)
    point = next
    next = oldPoint
    gradient = nextGradient
    nextGradient = oldGradient
    subgradient = nextSubgradient
    nextSubgradient = oldSubgradient
    products
  }

  /**
   * Combines the next direction. With an L1 penalty it has no entries that do not descend.
   *
   * @param factor
   *   of the search's gradient
   * @param factors
   *   of steps and changes; the corrections without a factor are forgotten
   * @return
   *   for each block the direction's square, and its product with the search's gradient
   */
  def turn(factor: Double, factors: Array[Double]): Array[Double] = {
    pairs = pairs.take(factors.length / 2)
    val result = new Array[Double](2 * ends.length)
    val search = if (hasL1) subgradient else gradient
    NativeBridge.quasiNewtonDirection(ends, search, factor, history, factors, hasL1, threads, direction, result)
    result
  }

  private def corrected(): Array[Double] = {
    val (step, change) =
      if (pairs.size < memory) (new Array[Float](length), new Array[Float](length)) else pairs.last
    pairs = (step, change) +: pairs.take(memory - 1)
    val products = new Array[Double](6 * pairs.size * ends.length)
    val search = if (hasL1) nextSubgradient else nextGradient
    NativeBridge
      .quasiNewtonProducts(ends, point, next, gradient, nextGradient, search, history, threads, products)
    products
  }

  private def history: Array[Array[Float]] = (pairs.map(_._1) ++ pairs.map(_._2)).toArray
}

/**
 * The coordinates of a search and their penalties.
 *
 * @param scales
 *   of each coordinate: it is the coefficient times its scale; 0 if the coefficient is 0, and 1 for an intercept
 * @param mean
 *   of each coordinate's feature; null without an intercept
 * @param factors
 *   r of each coordinate x: its penalties are l1 r |x| and l2 (r x)^2 / 2
 */
private[rows] final case class SearchSpace(
    scales: Array[Double],
    mean: Array[Double],
    factors: Array[Double],
    l1: Double,
    l2: Double)
