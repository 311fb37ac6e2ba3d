package dwell.ml

import java.math.{BigDecimal => Decimal, MathContext}

import dwell.ml.ExtendedPrecision._

/**
 * A linear problem in decimals of 80 digits: the objective of a model, and the least one.
 *
 * {{{ F = (1/S) sum_i s_i loss(z_i; y_i) + l1 |w|_1 + l2 / 2 |w|_2^2 }}}
 *
 * Newton's method with a line search finds the optimum. A corner of the loss or of the penalty is smoothed by a logarithmic barrier, which
 * fades: with a barrier of mu the optimum is missed by at most a few mu.
 *
 * @param intercept
 *   whether each output has an intercept
 */
private[ml] final class ExtendedPrecision(
    rows: Seq[Row],
    intercept: Boolean,
    loss: RowLoss,
    l1: Double = 0.0,
    l2: Double = 0.0) {
  private val p = rows.head.x.length
  private val features = rows.map(row => (row.x ++ (if (intercept) Seq(1.0) else Nil)).map(new Decimal(_))).toArray
  private val y = rows.map(row => new Decimal(row.label)).toArray
  private val s = {
    val weights = rows.map(row => new Decimal(row.weight)).toArray
    val total = weights.reduce(_.add(_, Digits))
    weights.map(divided(_, total))
  }
  private val (firstNorm, secondNorm) = (new Decimal(l1), new Decimal(l2))

  /** The variables of an output: its coefficients, and its intercept; of the scale of Huber's loss it alone. */
  private val lengths = Seq.fill(loss.outputs)(features.head.length) ++ Seq.fill(if (loss.hasScale) 1 else 0)(1)
  private val starts = lengths.scanLeft(0)(_ + _)
  private val n = starts.last

  /** Whether a variable is penalised. */
  private val isCoefficient =
    Array.tabulate(n)(j => starts.take(loss.outputs).exists(first => j - first >= 0 && j - first < p))

  private def inputs(i: Int, output: Int): Array[Decimal] =
    if (output < loss.outputs) features(i) else Array(Decimal.ONE)

  private def outputs(w: Array[Decimal], i: Int): Array[Decimal] =
    lengths.indices.map(k => dot(inputs(i, k), w.slice(starts(k), starts(k) + lengths(k)))).toArray

  /** F of a model: coefficients and intercept of each output in turn, and the scale. */
  def objective(model: Seq[Double]): Double = value(model.map(new Decimal(_)).toArray, None).get.doubleValue

  /** The least F, from a model. */
  def least(model: Seq[Double]): Double = {
    val hasCorner = l1 > 0.0 || loss.hasCorner
    val barriers = if (hasCorner) Barriers.map(mu => Some(new Decimal(mu))) else Seq(None)
    barriers
      .scanLeft(model.map(new Decimal(_)).toArray)((w, barrier) => minimum(w, barrier))
      .flatMap(value(_, None))
      .min
      .doubleValue
  }

  private def minimum(from: Array[Decimal], barrier: Option[Decimal]): Array[Decimal] = {
    var w = from
    var reached = value(w, barrier).get
    val enough = barrier.fold(Least)(_.multiply(Half))
    var rounds = 0
    while (rounds < 60) {
      val (gradient, hessian) = derivatives(w, barrier)
      val step = solve(hessian, gradient)
      val decrease = dot(step, gradient).abs
      val parts = Iterator.iterate(Decimal.ONE)(_.multiply(Half)).takeWhile(_.compareTo(Smallest) > 0)
      lazy val lower = parts
        .map(part => w.zip(step).map { case (w, d) => w.subtract(d.multiply(part, Digits), Digits) })
        .map(next => (next, value(next, barrier)))
        .find(_._2.exists(_.compareTo(reached) < 0))
      if (decrease.compareTo(enough) <= 0 || lower.isEmpty) rounds = 60
      else {
        w = lower.get._1
        reached = lower.get._2.get
      }
      rounds += 1
    }
    w
  }

  /** None outside of the loss's domain. */
  private def value(w: Array[Decimal], barrier: Option[Decimal]): Option[Decimal] = {
    val losses = y.indices.iterator.map(i => loss.value(outputs(w, i), y(i), barrier))
    val penalties = (0 until n).filter(isCoefficient).map { j =>
      val square = secondNorm.multiply(Half).multiply(w(j), Digits).multiply(w(j), Digits)
      if (l1 == 0.0) square
      else firstNorm.multiply(barrier.fold(w(j).abs)(Corner.absolute(w(j), _)), Digits).add(square, Digits)
    }
    val terms = losses.zip(s.iterator).map { case (loss, s) => loss.map(_.multiply(s, Digits)) }.toSeq
    if (terms.contains(None)) None else Some((terms.flatten ++ penalties).reduce(_.add(_, Digits)))
  }

  private def derivatives(w: Array[Decimal], barrier: Option[Decimal]): (Array[Decimal], Array[Array[Decimal]]) = {
    val gradient = Array.fill(n)(Decimal.ZERO)
    val hessian = Array.fill(n, n)(Decimal.ZERO)
    for (i <- y.indices) {
      val (slopes, curves) = loss.derivatives(outputs(w, i), y(i), barrier)
      for (k <- lengths.indices; a <- 0 until lengths(k); x = inputs(i, k)(a).multiply(s(i), Digits) if x.signum != 0) {
        val at = starts(k) + a
        gradient(at) = gradient(at).add(slopes(k).multiply(x, Digits), Digits)
        for (l <- 0 to k; curve = curves(k)(l).multiply(x, Digits) if curve.signum != 0; b <- 0 until lengths(l)) {
          val to = starts(l) + b
          if (to <= at) hessian(at)(to) = hessian(at)(to).add(curve.multiply(inputs(i, l)(b), Digits), Digits)
        }
      }
    }
    for (j <- 0 until n if isCoefficient(j)) {
      gradient(j) = gradient(j).add(secondNorm.multiply(w(j), Digits), Digits)
      hessian(j)(j) = hessian(j)(j).add(secondNorm, Digits)
      for (mu <- barrier if l1 > 0.0) {
        val (slope, curve) = Corner.ofAbsolute(w(j), mu)
        gradient(j) = gradient(j).add(firstNorm.multiply(slope, Digits), Digits)
        hessian(j)(j) = hessian(j)(j).add(firstNorm.multiply(curve, Digits), Digits)
      }
    }
    for (j <- 0 until n; k <- j + 1 until n) hessian(j)(k) = hessian(k)(j)
    (gradient, hessian)
  }
}

private[ml] object ExtendedPrecision {

  final case class Row(x: Array[Double], label: Double, weight: Double)

  private val Digits = new MathContext(80)

  /** Of exponentials and logarithms: a sum of rows by its size, and not by the smallest pivot. */
  private val FewDigits = new MathContext(45)
  private val One = Decimal.ONE
  private val Two = new Decimal(2)
  private val Half = new Decimal(0.5)
  private val Smallest = new Decimal("1e-12")
  private val Least = new Decimal("1e-32")
  private val Barriers = Seq("1e-3", "1e-6", "1e-10", "1e-14", "1e-18")

  /** A pivot below it is 0 but for rounding. */
  private val Zero = new Decimal("1e-60")

  /** The loss of a row as a function of its outputs. */
  trait RowLoss {
    def outputs: Int = 1
    def hasScale: Boolean = false
    def hasCorner: Boolean = false

    /** The loss; with a barrier a smooth one above it. */
    def value(z: Array[Decimal], y: Decimal, barrier: Option[Decimal]): Option[Decimal]

    /** By each output, and by each pair of outputs. */
    def derivatives(z: Array[Decimal], y: Decimal, barrier: Option[Decimal]): (Array[Decimal], Array[Array[Decimal]])
  }

  /** Half the square of the error. */
  object Squares extends RowLoss {
    def value(z: Array[Decimal], y: Decimal, barrier: Option[Decimal]): Option[Decimal] =
      Some(Half.multiply(square(z(0).subtract(y, Digits)), Digits))
    def derivatives(z: Array[Decimal], y: Decimal, barrier: Option[Decimal]): (Array[Decimal], Array[Array[Decimal]]) =
      (Array(z(0).subtract(y, Digits)), Array(Array(One)))
  }

  /** A function of u = 1 - z for the label 1, and of 1 + z for the label 0. */
  abstract class OfMargin extends RowLoss {
    def of(u: Decimal, barrier: Option[Decimal]): Decimal
    def derivativesOf(u: Decimal, barrier: Option[Decimal]): (Decimal, Decimal)
    private def sign(y: Decimal) = if (y.signum > 0) One else One.negate
    private def margin(z: Decimal, y: Decimal) = One.subtract(z.multiply(sign(y)), Digits)
    def value(z: Array[Decimal], y: Decimal, barrier: Option[Decimal]): Option[Decimal] = Some(
      of(margin(z(0), y), barrier))
    def derivatives(
        z: Array[Decimal],
        y: Decimal,
        barrier: Option[Decimal]): (Array[Decimal], Array[Array[Decimal]]) = {
      val (slope, curve) = derivativesOf(margin(z(0), y), barrier)
      (Array(slope.multiply(sign(y)).negate), Array(Array(curve)))
    }
  }

  object Logistic extends OfMargin {
    def of(u: Decimal, barrier: Option[Decimal]): Decimal = log1pExp(u.subtract(One, Digits))
    def derivativesOf(u: Decimal, barrier: Option[Decimal]): (Decimal, Decimal) = {
      val q = divided(One, One.add(exp(One.subtract(u, Digits)), Digits))
      (q, q.multiply(One.subtract(q), Digits))
    }
  }

  object SquaredHinge extends OfMargin {
    def of(u: Decimal, barrier: Option[Decimal]): Decimal = square(u.max(Decimal.ZERO))
    def derivativesOf(u: Decimal, barrier: Option[Decimal]): (Decimal, Decimal) =
      if (u.signum > 0) (Two.multiply(u), Two) else (Decimal.ZERO, Decimal.ZERO)
  }

  /** max(0, u) = (u + |u|) / 2. */
  object Hinge extends OfMargin {
    override def hasCorner: Boolean = true
    def of(u: Decimal, barrier: Option[Decimal]): Decimal =
      barrier.fold(u.abs)(Corner.absolute(u, _)).add(u, Digits).multiply(Half, Digits)
    def derivativesOf(u: Decimal, barrier: Option[Decimal]): (Decimal, Decimal) = {
      val (slope, curve) = Corner.ofAbsolute(u, barrier.get)
      (slope.add(One, Digits).multiply(Half, Digits), curve.multiply(Half, Digits))
    }
  }

  final class Softmax(classes: Int) extends RowLoss {
    override def outputs: Int = classes
    def value(z: Array[Decimal], y: Decimal, barrier: Option[Decimal]): Option[Decimal] = {
      val own = z(y.intValue)
      Some(log(z.map(z => exp(z.subtract(own, Digits))).reduce(_.add(_, Digits))))
    }
    def derivatives(
        z: Array[Decimal],
        y: Decimal,
        barrier: Option[Decimal]): (Array[Decimal], Array[Array[Decimal]]) = {
      val powers = z.map(k => exp(k.subtract(z(y.intValue), Digits)))
      val q = powers.map(divided(_, powers.reduce(_.add(_, Digits))))
      val slopes = Array.tabulate(classes)(k => if (k == y.intValue) q(k).subtract(One) else q(k))
      (
        slopes,
        Array.tabulate(classes, classes)((k, l) =>
          (if (k == l) q(k) else Decimal.ZERO).subtract(q(k).multiply(q(l), Digits), Digits)))
    }
  }

  /** Half of sigma + H((y - z) / sigma) sigma, with H a parabola up to epsilon and its tangents beyond (Owen 2007, as Spark has it). */
  final class Huber(epsilon: Double) extends RowLoss {
    override def hasScale: Boolean = true
    private val eps = new Decimal(epsilon)
    private def isOutlier(e: Decimal, sigma: Decimal) = e.abs.compareTo(eps.multiply(sigma, Digits)) > 0
    def value(z: Array[Decimal], y: Decimal, barrier: Option[Decimal]): Option[Decimal] = {
      val (e, sigma) = (y.subtract(z(0), Digits), z(1))
      if (sigma.signum > 0) Some {
        val own =
          if (isOutlier(e, sigma))
            Two.multiply(eps).multiply(e.abs, Digits).subtract(square(eps).multiply(sigma, Digits), Digits)
          else divided(square(e), sigma)
        Half.multiply(sigma.add(own, Digits), Digits)
      }
      else None
    }
    def derivatives(
        z: Array[Decimal],
        y: Decimal,
        barrier: Option[Decimal]): (Array[Decimal], Array[Array[Decimal]]) = {
      val (e, sigma) = (y.subtract(z(0), Digits), z(1))
      if (isOutlier(e, sigma)) {
        val slope = eps.multiply(new Decimal(-e.signum), Digits)
        (Array(slope, Half.multiply(One.subtract(square(eps), Digits), Digits)), Array.fill(2, 2)(Decimal.ZERO))
      } else {
        val u = divided(e, sigma)
        val curve = divided(One, sigma)
        val mixed = divided(u, sigma)
        (
          Array(u.negate, Half.multiply(One.subtract(square(u), Digits), Digits)),
          Array(Array(curve, mixed), Array(mixed, mixed.multiply(u, Digits))))
      }
    }
  }

  /** |u| with a barrier: the least t - mu log(t^2 - u^2), less what does not depend on u, which is at t = mu + sqrt(mu^2 + u^2). */
  private object Corner {
    private def root(u: Decimal, mu: Decimal) = square(mu).add(square(u), Digits).sqrt(Digits)

    def absolute(u: Decimal, mu: Decimal): Decimal = {
      val t = root(u, mu).add(mu, Digits)
      // t^2 - u^2 = 2 mu t.
      t.subtract(mu.multiply(log(divided(t, Two.multiply(mu))), Digits), Digits)
    }

    def ofAbsolute(u: Decimal, mu: Decimal): (Decimal, Decimal) = {
      val r = root(u, mu)
      val t = r.add(mu, Digits)
      val slope = divided(u, t)
      (slope, divided(One.subtract(divided(square(u), r.multiply(t, Digits)), Digits), t))
    }
  }

  private def square(a: Decimal): Decimal = a.multiply(a, Digits)

  private def dot(a: Array[Decimal], b: Array[Decimal]): Decimal =
    a.indices.foldLeft(Decimal.ZERO)((sum, i) => sum.add(a(i).multiply(b(i), Digits), Digits))

  private def divided(a: Decimal, b: Decimal): Decimal = a.divide(b, Digits)

  /** A solution of a positive semidefinite system, with 0 for what others explain; diagonal pivots, the largest first. */
  private def solve(matrix: Array[Array[Decimal]], right: Array[Decimal]): Array[Decimal] = {
    val n = right.length
    val a = matrix.zip(right).map { case (row, b) => row :+ b }
    val diagonal = Array.tabulate(n)(j => matrix(j)(j))
    var left = (0 until n).filter(j => diagonal(j).signum > 0).toSet
    var used = Seq.empty[Int]
    def size(j: Int): Decimal = divided(a(j)(j), diagonal(j))
    while (left.nonEmpty) {
      val pivot = left.maxBy(size)
      left -= pivot
      if (size(pivot).compareTo(Zero) > 0) {
        used :+= pivot
        for (i <- 0 until n if i != pivot) {
          val factor = divided(a(i)(pivot), a(pivot)(pivot))
          for (c <- 0 to n) a(i)(c) = a(i)(c).subtract(factor.multiply(a(pivot)(c), Digits), Digits)
        }
      } else left = Set.empty
    }
    Array.tabulate(n)(j => if (used.contains(j)) divided(a(j)(n), a(j)(j)) else Decimal.ZERO)
  }

  private def exp(z: Decimal): Decimal = {
    // The part's series then has 24 terms.
    val halvings = 10 + math.max(0, Math.getExponent(z.doubleValue) - 6)
    val part = z.divide(Two.pow(halvings), FewDigits)
    var (term, sum) = (One, One)
    for (k <- 1 to 24) {
      term = term.multiply(part, FewDigits).divide(new Decimal(k), FewDigits)
      sum = sum.add(term, FewDigits)
    }
    (0 until halvings).foreach(_ => sum = sum.multiply(sum, FewDigits))
    sum
  }

  private def log1pExp(z: Decimal): Decimal =
    logarithm(One.add(exp(z), Digits), if (z.doubleValue > 30.0) z.doubleValue else math.log1p(math.exp(z.doubleValue)))

  private def log(a: Decimal): Decimal = {
    // A double does not hold all of their exponents.
    val exponent = a.precision - a.scale
    logarithm(a, math.log(a.scaleByPowerOfTen(-exponent).doubleValue) + exponent * math.log(10.0))
  }

  /** The logarithm of `a`, by Newton's method on exp from a double: a step of third order has three times the digits. */
  private def logarithm(a: Decimal, guess: Double): Decimal = {
    val log = new Decimal(guess)
    val e = exp(log)
    log.add(Two.multiply(a.subtract(e, Digits)).divide(a.add(e, Digits), FewDigits), Digits)
  }
}
