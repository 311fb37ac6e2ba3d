package dwell.solver.rows.search

/**
 * The dot products of the last steps of a quasi-Newton method, s, and the changes of the gradient along them, y, newest first: all
 * that the two-loop recursion needs to know of the vectors (Chen, Wang and Zhou, Large-scale L-BFGS using MapReduce, NIPS 2014).
 *
 * @param sy
 *   s_i . y_j
 * @param yy
 *   y_i . y_j
 */
private[rows] final case class Corrections(sy: Vector[Vector[Double]], yy: Vector[Vector[Double]]) {

  def size: Int = sy.length

  /**
   * These corrections with a newer one; the oldest goes if there are more than `memory`.
   *
   * @param step
   *   the products of the newest step with all changes, the newest first
   * @param steps
   *   the products of the newest change with all steps
   * @param changes
   *   the products of the newest change with all changes
   */
  def updated(memory: Int, step: Vector[Double], steps: Vector[Double], changes: Vector[Double]): Corrections = {
    val kept = math.min(size, memory - 1)
    def older(matrix: Vector[Vector[Double]], columns: Vector[Double]): Vector[Vector[Double]] =
      Vector.tabulate(kept)(i => columns(i + 1) +: matrix(i).take(kept))
    Corrections(step +: older(sy, steps), changes +: older(yy, changes))
  }

  /**
   * Minus the approximate inverse Hessian times a gradient, as a combination of vectors (Nocedal, Updating Quasi-Newton Matrices
   * with Limited Storage, Math. Comp. 35, 1980); minus the gradient without corrections.
   *
   * @param s
   *   the products of the gradient with the steps
   * @param y
   *   the products of the gradient with the changes
   * @return
   *   the factors of the gradient, and of all steps and then all changes; None if the newest correction shows no positive curvature,
   *   or a factor is not a number
   */
  def direction(s: Seq[Double], y: Seq[Double]): Option[(Double, Array[Double])] =
    if (size == 0) Some((-1.0, Array.emptyDoubleArray))
    else if (!(sy(0)(0) >= 0.0)) None
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
      if ((a ++ b).exists(_.isNaN)) None else Some((-diagonal, b.map(x => -x) ++ a.map(_ * diagonal)))
    }
}

private[rows] object Corrections {

  /** No corrections yet. */
  val Empty: Corrections = Corrections(Vector.empty, Vector.empty)
}
