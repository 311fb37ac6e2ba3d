package dwell.solver.rows.search

import dwell.jni.NativeBridge

/**
 * Vectors of a search by L-BFGS, or by OWL-QN with an L1 penalty: all coordinates, or some blocks of them. A native object has them and does
 * all work on them; [[dwell.jni.NativeBridge]] says what it answers for each block. Whoever makes one closes it.
 *
 * @param ends
 *   of the blocks
 */
private[rows] final class SearchSlice(
    space: SearchSpace,
    ends: Array[Int],
    start: Array[Double],
    memory: Int,
    threads: Int)
    extends AutoCloseable {
  private val length = start.length

  private val search = {
    import space._
    NativeBridge.quasiNewtonBegin(ends, scales, mean, factors, l1, l2, start, memory, threads)
  }

  /** The coefficients after a step along the direction, with intercepts of centred features, and for each block the part of the centre. */
  def trial(step: Double): (Array[Byte], Array[Double]) = {
    val model = new Array[Byte](8 * length)
    (model, NativeBridge.quasiNewtonTrial(search, step, model))
  }

  /** Takes the gradient at the last trial; gives five sums. */
  def evaluated(sums: Array[Double], total: Double, intercepts: Array[Double]): Array[Double] =
    NativeBridge.quasiNewtonGradient(search, sums, total, intercepts)

  /** Makes the last trial the point; if it has `moved`, gives the products of the newest correction. */
  def accept(moved: Boolean): Array[Double] = NativeBridge.quasiNewtonAccept(search, moved)

  /** Combines the next direction; gives its square, and its product with the search's gradient. */
  def turn(factor: Double, factors: Array[Double]): Array[Double] =
    NativeBridge.quasiNewtonTurn(search, factor, factors)

  override def close(): Unit = NativeBridge.quasiNewtonFree(search)
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
