package dwell.ml

import breeze.linalg.{norm, DenseMatrix, DenseVector}

import dwell.problem.{Hinge, Logistic, MarginLoss, SquaredHinge}

/**
 * Small dense problems of classification, solved by other means than coordinate descent over partitions: Newton's method
 * (with an inner lasso where there is an L1 penalty) for smooth losses, an interior point method for the hinge.
 * The independent reference of the tests.
 *
 * @param x
 *   features of each row
 * @param y
 *   labels, -1 or 1
 * @param weights
 *   positive
 */
final class ReferenceSolver(
    x: Array[Array[Double]],
    y: Array[Double],
    weights: Array[Double],
    loss: MarginLoss,
    intercept: Boolean) {
  import ReferenceSolver._

  private val total = weights.sum
  private val share = weights.map(_ / total)
  private val features = x.headOption.fold(0)(_.length)
  private val rows = x.length
  private val mean = Array.tabulate(features)(i => x.indices.map(j => share(j) * x(j)(i)).sum)
  private val variance =
    Array.tabulate(features)(i => x.indices.map(j => share(j) * math.pow(x(j)(i) - mean(i), 2)).sum)
  private val constant = Array.tabulate(features)(i => x.forall(_(i) == x(0)(i)))

  /** F, straight from its definition; y in {-1, 1}. */
  def objective(a: Array[Double], b: Double, l1: Double, l2: Double, scaleFactor: Double): Double = {
    val losses = x.indices.map(j => share(j) * loss.value(a.indices.map(i => x(j)(i) * a(i)).sum + b, y(j))).sum
    val scale = variance.map(v => if (scaleFactor > 0.0) scaleFactor * v else 1.0)
    losses + a.indices.map(i => l1 * math.sqrt(scale(i)) * math.abs(a(i)) + l2 * scale(i) * a(i) * a(i) / 2.0).sum
  }

  /** Coefficients and intercept. */
  def solve(l1: Double, l2: Double, scaleFactor: Double): (Array[Double], Double) = {
    // The same problem, well conditioned: columns have deviation 1, and are centred if an intercept compensates for
    // it.
    val used = (0 until features).filterNot(constant(_)).toArray
    val deviation = used.map(i => math.sqrt(variance(i)))
    val shift = used.map(i => if (intercept) mean(i) else 0.0)
    val u = DenseMatrix.tabulate(rows, used.length)((j, k) => (x(j)(used(k)) - shift(k)) / deviation(k))
    val scale =
      used.indices.map(k => if (scaleFactor > 0.0) scaleFactor else 1.0 / (deviation(k) * deviation(k))).toArray
    val lasso = DenseVector(scale.map(s => l1 * math.sqrt(s)))
    val ridge = DenseVector(scale.map(s => l2 * s))
    val (v, b) = loss match {
      case Hinge => hinge(u, ridge)
      case _ => newton(u, lasso, ridge)
    }
    val a = new Array[Double](features)
    used.indices.foreach(k => a(used(k)) = v(k) / deviation(k))
    (a, b - used.indices.map(k => a(used(k)) * shift(k)).sum)
  }

  /** Second derivative by z. */
  private def curvature(z: Double, y: Double): Double = loss match {
    case Logistic =>
      val p = 1.0 / (1.0 + math.exp(-z))
      p * (1.0 - p)
    case SquaredHinge => if (y * z < 1.0) 2.0 else 0.0
    case _ => throw new IllegalArgumentException(s"$loss")
  }

  /** Variables are the coefficients and, last, the intercept. */
  private def newton(
      u: DenseMatrix[Double],
      lasso: DenseVector[Double],
      ridge: DenseVector[Double]): (DenseVector[Double], Double) = {
    val n = u.cols
    val design = if (intercept) DenseMatrix.horzcat(u, DenseMatrix.ones[Double](rows, 1)) else u
    val size = design.cols
    val l1 = DenseVector.tabulate(size)(i => if (i < n) lasso(i) else 0.0)
    val l2 = DenseVector.tabulate(size)(i => if (i < n) ridge(i) else 0.0)
    def value(v: DenseVector[Double]): Double = {
      val z = design * v
      (0 until rows).map(j => share(j) * loss.value(z(j), y(j))).sum +
        (0 until size).map(i => l1(i) * math.abs(v(i)) + l2(i) * v(i) * v(i) / 2.0).sum
    }
    var v = DenseVector.zeros[Double](size)
    var f = value(v)
    var step = 0
    var done = size == 0
    while (!done && step < MaxNewtonSteps) {
      val z = design * v
      val slope = DenseVector.tabulate(rows)(j => share(j) * loss.derivative(z(j), y(j)))
      val curve = DenseVector.tabulate(rows)(j => share(j) * curvature(z(j), y(j)))
      val gradient = design.t * slope + (l2 *:* v)
      val weighted = DenseMatrix.tabulate(rows, size)((j, i) => curve(j) * design(j, i))
      val hessian = design.t * weighted
      (0 until size).foreach(i => hessian(i, i) += l2(i) + Damping)
      val direction = if (norm(l1) == 0.0) -(hessian \ gradient) else lassoStep(hessian, gradient, v, l1)
      var t = 1.0
      var next = v + direction
      while (t > SmallestStep && value(next) > f) {
        t /= 2.0
        next = v + direction * t
      }
      val g = value(next)
      done = g >= f || norm(direction) * t <= 1e-13 * norm(v)
      if (g <= f) {
        v = next
        f = g
      }
      step += 1
    }
    (v.slice(0, n).copy, if (intercept) v(n) else 0.0)
  }

  /** Minimiser d of gradient'd + d'Hd/2 + |v + d|_l1, by coordinate descent. */
  private def lassoStep(
      hessian: DenseMatrix[Double],
      gradient: DenseVector[Double],
      v: DenseVector[Double],
      l1: DenseVector[Double]): DenseVector[Double] = {
    val w = v.copy
    val slope = gradient.copy
    var moved = Double.MaxValue
    var sweep = 0
    while (moved > 1e-14 * (norm(w) + 1e-300) && sweep < MaxSweeps) {
      moved = 0.0
      (0 until w.length).foreach { i =>
        val target = w(i) - slope(i) / hessian(i, i)
        val threshold = l1(i) / hessian(i, i)
        val next = math.signum(target) * math.max(0.0, math.abs(target) - threshold)
        val change = next - w(i)
        if (change != 0.0) {
          w(i) = next
          slope += hessian(::, i) * change
          moved = math.max(moved, math.abs(change))
        }
      }
      sweep += 1
    }
    w - v
  }

  /**
   * The dual of the hinge, `c'Kc/2 - sum c` over `0 <= c_j <= s_j/S`, with `y'c = 0` for the intercept, by a primal-dual
   * interior point method; then the best intercept for the coefficients.
   */
  private def hinge(u: DenseMatrix[Double], ridge: DenseVector[Double]): (DenseVector[Double], Double) = {
    val scaled = DenseMatrix.tabulate(rows, u.cols)((j, k) => u(j, k) * y(j))
    val kernel = scaled * DenseMatrix.tabulate(u.cols, rows)((k, j) => scaled(j, k) / ridge(k))
    val upper = DenseVector(share)
    val ones = DenseVector.ones[Double](rows)
    val labels = DenseVector(y)
    var c = feasible
    var low = ones.copy // multipliers of c >= 0
    var high = ones.copy // of c <= s/S
    def gap: Double = (low dot c) + (high dot (upper - c))
    var step = 0
    while (gap > ComplementarityGap && step < MaxNewtonSteps) {
      val mu = 0.1 * gap / (2.0 * rows)
      val room = upper - c
      val system = kernel + breeze.linalg.diag((low /:/ c) + (high /:/ room))
      val right = ones - kernel * c + (mu / c) - (mu / room)
      val change =
        if (!intercept) system \ right
        else {
          val both = system \ DenseMatrix.horzcat(right.toDenseMatrix.t, labels.toDenseMatrix.t)
          both(::, 0) - both(::, 1) * ((labels dot both(::, 0)) / (labels dot both(::, 1)))
        }
      val lowChange = (mu / c) - low - ((low /:/ c) *:* change)
      val highChange = (mu / room) - high + ((high /:/ room) *:* change)
      val t = Seq(c -> change, room -> -change, low -> lowChange, high -> highChange).map { case (value, d) =>
        longest(value, d)
      }.min
      c = c + change * t
      low = low + lowChange * t
      high = high + highChange * t
      step += 1
    }
    val v = (scaled.t * c) /:/ ridge
    (v, if (intercept) bestIntercept(u * v) else 0.0)
  }

  /** A point inside of the bounds, with the same sum for both classes. */
  private def feasible: DenseVector[Double] = {
    val positive = y.indices.collect { case j if y(j) > 0.0 => share(j) }.sum
    val smaller = math.min(positive, 1.0 - positive)
    DenseVector.tabulate(rows)(j => 0.5 * share(j) * smaller / (if (y(j) > 0.0) positive else 1.0 - positive))
  }

  /** The longest step, up to 1, that keeps `value` positive by a margin. */
  private def longest(value: DenseVector[Double], change: DenseVector[Double]): Double =
    (0 until rows).iterator.filter(change(_) < 0.0).map(j => -0.99 * value(j) / change(j)).foldLeft(1.0)(math.min)

  /** The loss is piecewise linear in b: one of its corners is best. */
  private def bestIntercept(z: DenseVector[Double]): Double =
    (0 until rows).map(j => y(j) - z(j)).minBy(b => (0 until rows).map(j => share(j) * loss.value(z(j) + b, y(j))).sum)
}

object ReferenceSolver {
  private val MaxNewtonSteps = 200
  private val MaxSweeps = 20000
  private val SmallestStep = 1e-10

  /** Added to the Hessian for directions without curvature; it changes the path, not the solution. */
  private val Damping = 1e-13

  /** The gap at which the dual of the hinge counts as solved: the objective is then at most this far from the
   * optimum. */
  private val ComplementarityGap = 1e-12
}
