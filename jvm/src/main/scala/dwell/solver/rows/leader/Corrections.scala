package dwell.solver.rows.leader

/**
 * The last steps of a quasi-Newton method and the changes of the gradient along them, newest first, with their dot
 * products: what the two-loop recursion needs to know of them.
 *
 * The recursion runs on dot products (Chen, Wang and Zhou, Large-scale L-BFGS using MapReduce, NIPS 2014). A direction
 * takes two passes over the vectors: one for the products with the gradient, one for the combination.
 *
 * @param pairs
 *   a step s and a change y of the gradient each
 * @param sy
 *   s_i . y_j
 * @param yy
 *   y_i . y_j
 */
private[leader] final class Corrections private (
    memory: Int,
    pairs: Vector[(Array[Double], Array[Double])],
    sy: Array[Array[Double]],
    yy: Array[Array[Double]]) {
  import Corrections._

  private def size: Int = pairs.length

  /** These corrections with a newer one; the oldest goes if there are more than `memory`. Keeps the arrays. */
  def updated(step: Array[Double], change: Array[Double]): Corrections = {
    val kept = pairs.take(memory - 1)
    val all = (step, change) +: kept
    val (newSy, newYy) = (Array.ofDim[Double](all.length, all.length), Array.ofDim[Double](all.length, all.length))
    for (i <- kept.indices; j <- kept.indices) {
      newSy(i + 1)(j + 1) = sy(i)(j)
      newYy(i + 1)(j + 1) = yy(i)(j)
    }
    val stepWith = products(step, all.map(_._2))
    val changeWith = products(change, all.map(_._2) ++ kept.map(_._1))
    for (j <- all.indices) {
      newSy(0)(j) = stepWith(j)
      newYy(0)(j) = changeWith(j)
      newYy(j)(0) = changeWith(j)
      if (j > 0) newSy(j)(0) = changeWith(all.length + j - 1)
    }
    new Corrections(memory, all, newSy, newYy)
  }

  /**
   * Minus the approximate inverse Hessian times `gradient` (Nocedal, Updating Quasi-Newton Matrices with Limited
   * Storage, Math. Comp. 35, 1980); minus the gradient without corrections.
   *
   * @return
   *   None if the newest correction shows no positive curvature, or a product is not a number
   */
  def direction(gradient: Array[Double]): Option[Array[Double]] =
    if (size == 0) Some(combined(gradient, -1.0, Vector.empty, Array.emptyDoubleArray))
    else if (!(sy(0)(0) >= 0.0)) None
    else {
      val known = products(gradient, pairs.map(_._1) ++ pairs.map(_._2))
      val (s, y) = known.splitAt(size)
      // q = gradient - sum_j a_j y_j, from the newest correction to the oldest.
      val a = new Array[Double](size)
      for (i <- 0 until size) {
        var product = s(i)
        for (j <- 0 until i) product -= a(j) * sy(i)(j)
        a(i) = product / sy(i)(i)
      }
      val diagonal = sy(0)(0) / yy(0)(0)
      // r = diagonal q + sum_j b_j s_j, from the oldest to the newest.
      val b = new Array[Double](size)
      for (i <- size - 1 to 0 by -1) {
        var product = y(i)
        for (j <- 0 until size) product -= a(j) * yy(i)(j)
        product *= diagonal
        for (j <- i + 1 until size) product += b(j) * sy(j)(i)
        b(i) = a(i) - product / sy(i)(i)
      }
      if ((a ++ b).exists(_.isNaN)) None
      else {
        Some(combined(gradient, -diagonal, pairs.map(_._1) ++ pairs.map(_._2), b.map(x => -x) ++ a.map(_ * diagonal)))
      }
    }
}

private[leader] object Corrections {

  /** No corrections yet. */
  def none(memory: Int): Corrections =
    new Corrections(memory, Vector.empty, Array.empty, Array.empty)

  /** Entries that stay in the first cache while the vectors pass by. */
  private val Block = 1024

  /** The dot products of `x` with each of the vectors, in one pass. */
  private def products(x: Array[Double], vectors: Vector[Array[Double]]): Array[Double] = {
    val others = vectors.toArray
    val sums = new Array[Double](others.length)
    var first = 0
    while (first < x.length) {
      val end = math.min(x.length, first + Block)
      var v = 0
      while (v < others.length) {
        sums(v) += product(x, others(v), first, end)
        v += 1
      }
      first = end
    }
    sums
  }

  /** Four accumulators: additions that wait for one another would take longer than the memory. */
  private def product(x: Array[Double], y: Array[Double], first: Int, end: Int): Double = {
    var s0, s1, s2, s3 = 0.0
    var i = first
    while (i + 3 < end) {
      s0 += x(i) * y(i)
      s1 += x(i + 1) * y(i + 1)
      s2 += x(i + 2) * y(i + 2)
      s3 += x(i + 3) * y(i + 3)
      i += 4
    }
    while (i < end) {
      s0 += x(i) * y(i)
      i += 1
    }
    (s0 + s1) + (s2 + s3)
  }

  /** `factor x + sum_v factors_v vectors_v`, in one pass. */
  private def combined(
      x: Array[Double],
      factor: Double,
      vectors: Vector[Array[Double]],
      factors: Array[Double]): Array[Double] = {
    val others = vectors.toArray
    val result = new Array[Double](x.length)
    var first = 0
    while (first < x.length) {
      val end = math.min(x.length, first + Block)
      var i = first
      while (i < end) {
        result(i) = factor * x(i)
        i += 1
      }
      var v = 0
      while (v < others.length) {
        add(others(v), factors(v), result, first, end)
        v += 1
      }
      first = end
    }
    result
  }

  private def add(x: Array[Double], factor: Double, sum: Array[Double], first: Int, end: Int): Unit = {
    var i = first
    while (i < end) {
      sum(i) += factor * x(i)
      i += 1
    }
  }
}
