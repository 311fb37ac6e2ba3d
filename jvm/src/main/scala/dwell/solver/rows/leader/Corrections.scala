package dwell.solver.rows.leader

/**
 * The last steps of a quasi-Newton method and the changes of the gradient along them, newest first, with their dot
 * products: what the two-loop recursion needs to know of them.
 *
 * The recursion runs on dot products (Chen, Wang and Zhou, Large-scale L-BFGS using MapReduce, NIPS 2014). An iteration
 * takes two passes over the vectors: one for the products of the newest correction and of the gradient, one for the combination.
 *
 * @param pairs
 *   a step s and a change y of the gradient each
 * @param before
 *   the corrections before the newest one; they are let go once its products are known
 */
private[leader] final class Corrections private (
    memory: Int,
    pairs: Vector[(Array[Double], Array[Double])],
    private var before: Option[Corrections]) {
  import Corrections._

  private val size = pairs.length
  private val vectors = (pairs.map(_._1) ++ pairs.map(_._2)).toArray

  /** s_i . y_j and y_i . y_j. */
  private val sy, yy = Array.ofDim[Double](size, size)

  /** These corrections with a newer one; the oldest goes if there are more than `memory`. Keeps the arrays. */
  def updated(step: Array[Double], change: Array[Double]): Corrections = {
    completed(Seq.empty)
    new Corrections(memory, (step, change) +: pairs.take(memory - 1), Some(this))
  }

  /**
   * Minus the approximate inverse Hessian times `gradient` (Nocedal, Updating Quasi-Newton Matrices with Limited
   * Storage, Math. Comp. 35, 1980); minus the gradient without corrections.
   *
   * @return
   *   None if the newest correction shows no positive curvature, or a product is not a number
   */
  def direction(gradient: Array[Double]): Option[Array[Double]] =
    if (size == 0) Some(combined(gradient, -1.0, vectors, Array.emptyDoubleArray))
    else {
      val (s, y) = completed(Seq(gradient)).head.splitAt(size)
      if (!(sy(0)(0) >= 0.0)) None
      else {
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
        else Some(combined(gradient, -diagonal, vectors, b.map(x => -x) ++ a.map(_ * diagonal)))
      }
    }

  /** Sums the products that are not known yet; the products of other vectors with all steps and changes come from the same pass. */
  private def completed(others: Seq[Array[Double]]): Seq[Array[Double]] = {
    val newest = if (before.isEmpty) Seq.empty else Seq(pairs.head._1, pairs.head._2)
    val sums = products((newest ++ others).toArray, vectors)
    before.foreach { last =>
      for (i <- 1 until size; j <- 1 until size) {
        sy(i)(j) = last.sy(i - 1)(j - 1)
        yy(i)(j) = last.yy(i - 1)(j - 1)
      }
      for (j <- 0 until size) {
        sy(0)(j) = sums(0)(size + j)
        sy(j)(0) = sums(1)(j)
        yy(0)(j) = sums(1)(size + j)
        yy(j)(0) = yy(0)(j)
      }
      before = None
    }
    sums.drop(newest.length).toSeq
  }
}

private[leader] object Corrections {

  /** No corrections yet. */
  def none(memory: Int): Corrections = new Corrections(memory, Vector.empty, None)

  /** Entries that stay in the first cache while the vectors pass by. */
  private val Block = 1024

  /** The dot products of each of `xs` with each of the vectors, in one pass. */
  private def products(xs: Array[Array[Double]], vectors: Array[Array[Double]]): Array[Array[Double]] = {
    val sums = Array.ofDim[Double](xs.length, vectors.length)
    val length = xs.headOption.fold(0)(_.length)
    var first = 0
    while (first < length) {
      val end = math.min(length, first + Block)
      var v = 0
      while (v < vectors.length) {
        var x = 0
        while (x < xs.length) {
          sums(x)(v) += product(xs(x), vectors(v), first, end)
          x += 1
        }
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
      vectors: Array[Array[Double]],
      factors: Array[Double]): Array[Double] = {
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
      while (v < vectors.length) {
        add(vectors(v), factors(v), result, first, end)
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
