package dwell.solver.rows.search

/**
 * L-BFGS within a box, by two-metric projection: variables at a bound that the gradient holds there stay, the others go along the
 * direction of L-BFGS for them alone, and a step that leaves the box ends on its border.
 *
 * Source: Bertsekas, Projected Newton methods for optimization problems with simple constraints, SIAM J. Control Optim. 20, 1982; with
 * L-BFGS as in Schmidt, Kim and Sra, Projected Newton-type methods in machine learning, 2011, section 11.4.
 *
 * @param lower
 *   least values; minus infinity where there is none
 * @param upper
 *   largest values
 * @param tolerance
 *   the search ends where ten iterations bring no more than this part of the objective
 * @param evaluate
 *   objective and gradient
 */
private[rows] final class ProjectedSearch(lower: Array[Double], upper: Array[Double], tolerance: Double)(
    evaluate: Array[Double] => (Double, Array[Double])) {
  import ProjectedSearch._

  private val n = lower.length

  /** The last steps and changes of the gradient, newest first. */
  private var pairs = Vector.empty[(Array[Double], Array[Double])]

  /** The start, clipped to the box, and the iterations up to the one at which the search ends. */
  def iterations(start: Array[Double]): Iterator[Point] = {
    val x = clipped(start)
    val (value, gradient) = evaluate(x)
    Iterator.unfold(Option(Point(x, value, gradient, Vector(value), isLast = false)))(_.map { point =>
      (point, Option.unless(point.isLast)(after(point)))
    })
  }

  private def after(point: Point): Point = {
    val free = moving(point)
    def searched = stepped(point, direction(point.gradient, free))
    val next = searched.orElse {
      // The corrections may be at fault.
      val had = pairs.nonEmpty
      pairs = Vector.empty
      if (had) searched else None
    }
    next.fold(point.copy(isLast = true)) { case (x, value, gradient) =>
      val (step, change) = (difference(x, point.x), difference(gradient, point.gradient))
      if (dot(step, change) > Flat * dot(change, change)) pairs = ((step, change) +: pairs).take(Memory)
      val values = (value +: point.values).take(Compared + 1)
      val stands = values.size > Compared && values.last - value <= tolerance * math.abs(value)
      Point(x, value, gradient, values, isLast = stands)
    }
  }

  /** The point of the box nearest to the end of a step that lowers the objective; None if there is none. */
  private def stepped(point: Point, direction: Array[Double]): Option[(Array[Double], Double, Array[Double])] = {
    val slope = dot(direction, point.gradient)
    var length = if (pairs.nonEmpty) 1.0 else math.min(1.0, 1.0 / math.sqrt(dot(direction, direction)))
    var trials = 0
    var found = Option.empty[(Array[Double], Double, Array[Double])]
    while (slope < 0.0 && found.isEmpty && trials < MostTrials) {
      val x = clipped(Array.tabulate(n)(i => point.x(i) + length * direction(i)))
      val promised = dot(point.gradient, difference(x, point.x))
      val (value, gradient) = evaluate(x)
      if (promised < 0.0 && value <= point.value + Least * promised) found = Some((x, value, gradient))
      // The least point of the parabola through both values and the slope.
      val curve = value - point.value - length * slope
      val best = if (curve > 0.0) -0.5 * slope * length * length / curve else Shortest * length
      length = math.max(Shortest * length, math.min(Longest * length, best))
      trials += 1
    }
    found
  }

  /** Which variables the gradient does not hold at a bound. */
  private def moving(point: Point): Array[Boolean] =
    Array.tabulate(n) { i =>
      val g = point.gradient(i)
      !(point.x(i) <= lower(i) && g >= 0.0 || point.x(i) >= upper(i) && g <= 0.0)
    }

  /** Minus the approximate inverse Hessian of the free variables times their gradient; 0 for the others. */
  private def direction(gradient: Array[Double], free: Array[Boolean]): Array[Double] = {
    val q = Array.tabulate(n)(i => if (free(i)) -gradient(i) else 0.0)
    val kept = pairs
      .map { case (s, y) => (s, y, dot(s, y, free)) }
      .filter { case (_, y, product) => product > Flat * dot(y, y, free) }
    val factors = kept.map { case (s, y, product) =>
      val a = dot(s, q) / product
      add(-a, y, q, free)
      a
    }
    kept.headOption.foreach { case (_, y, product) => scale(product / dot(y, y, free), q) }
    for (((s, y, product), a) <- kept.zip(factors).reverse) add(a - dot(y, q) / product, s, q, free)
    q
  }

  private def clipped(x: Array[Double]): Array[Double] =
    Array.tabulate(n)(i => math.max(lower(i), math.min(upper(i), x(i))))

  private def difference(a: Array[Double], b: Array[Double]): Array[Double] = Array.tabulate(n)(i => a(i) - b(i))

  private def dot(a: Array[Double], b: Array[Double]): Double = {
    var sum = 0.0
    var i = 0
    while (i < n) {
      sum += a(i) * b(i)
      i += 1
    }
    sum
  }

  private def dot(a: Array[Double], b: Array[Double], free: Array[Boolean]): Double = {
    var sum = 0.0
    var i = 0
    while (i < n) {
      if (free(i)) sum += a(i) * b(i)
      i += 1
    }
    sum
  }

  private def add(factor: Double, a: Array[Double], to: Array[Double], free: Array[Boolean]): Unit = {
    var i = 0
    while (i < n) {
      if (free(i)) to(i) += factor * a(i)
      i += 1
    }
  }

  private def scale(factor: Double, x: Array[Double]): Unit = {
    var i = 0
    while (i < n) {
      x(i) *= factor
      i += 1
    }
  }
}

private[rows] object ProjectedSearch {

  /**
   * A point of the search.
   *
   * @param values
   *   the last objectives, newest first
   * @param isLast
   *   whether the search ends here
   */
  final case class Point(
      x: Array[Double],
      value: Double,
      gradient: Array[Double],
      values: Vector[Double],
      isLast: Boolean)

  /** Number of corrections, as in Spark. */
  private val Memory = 10

  /** Iterations whose decrease ends the search. */
  private val Compared = 10

  /** The share of the decrease that the slope promises which a step has to bring (Armijo). */
  private val Least = 1e-4

  /** Trials of a step, and by how much one is shorter than the one before. */
  private val MostTrials = 30
  private val Shortest = 0.1
  private val Longest = 0.5

  /** Corrections with less curvature tell nothing. */
  private val Flat = 1e-14
}
