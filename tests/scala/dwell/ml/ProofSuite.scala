package dwell.ml

import java.math.{BigDecimal => Decimal, MathContext}

import scala.util.Random

import org.apache.spark.ml.Model
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.sql.DataFrame

import dwell.{CheckLong, SparkSuite}
import dwell.ml.ExtendedPrecision.Row
import dwell.ml.classification.LogisticRegression
import dwell.ml.regression.LinearRegression
import dwell.report.{FitReport, LinearFitReport}

/**
 * A proof is true: no model is better than a fit's by more than the gap that its report names, on data whose features all but explain one
 * another. The optimum comes from decimals of 80 digits.
 */
class ProofSuite extends SparkSuite {
  import ProofSuite._

  private def frame(rows: Seq[Row]): DataFrame =
    spark
      .createDataFrame(rows.map(row => (row.label, row.weight, Vectors.dense(row.x): Vector)))
      .toDF("label", "w", "features")
      .repartition(2)
      .cache()

  private def report(model: Model[_]): LinearFitReport = FitReport.of(model).asInstanceOf[LinearFitReport]

  private def check(clue: String, told: LinearFitReport, reached: Double, optimum: Double): Unit = {
    val excess = reached - optimum
    assert(
      excess <= told.gap + Rounding * reached,
      s"$clue: told ${told.gap}, true $excess of $reached, ${told.algorithm}")
    assert(math.abs(told.objective - reached) <= told.gap + 1e-12 * reached, s"$clue: ${told.objective}, not $reached")
  }

  for (((name, shape), number) <- shapes.zipWithIndex) {
    test(s"LinearRegression without a penalty, $name") {
      for (intercept <- Seq(true, false)) {
        val rows = shape(new Random(11))
        val data = frame(rows)
        val model = new LinearRegression().setWeightCol("w").setFitIntercept(intercept).fit(data)
        val told = report(model)
        val exact = new ExtendedPrecision(rows, intercept)
        val optimum = exact.leastSquares
        check(s"intercept $intercept", told, exact.squared(model.coefficients.toArray, model.intercept), optimum)
        if (!isBeyond(name)) {
          assert(
            told.converged && told.gap <= 1e-6 * told.objective,
            s"intercept $intercept: ${told.gap} of ${told.objective}")
        }
        data.unpersist()
      }
    }

    test(s"LogisticRegression, $name") {
      // Decimals take their time.
      for (regParam <- if (CheckLong.everything) Seq(0.0, 1e-3, 1e-9) else Seq(Seq(0.0, 1e-9)(number % 2))) {
        val all = shape(new Random(12)).grouped(2).map(_.head).toSeq
        val middle = all.map(_.label).sorted.apply(all.length / 2)
        val random = new Random(13)
        val rows = all.map { row =>
          row.copy(label = if (random.nextDouble() < 0.2 ^ row.label > middle) 1.0 else 0.0)
        }
        val data = frame(rows)
        val trainer = new LogisticRegression().setWeightCol("w").setRegParam(regParam).setStandardization(false)
        val model = trainer.setMaxIter(200).fit(data)
        val told = report(model)
        val exact = new ExtendedPrecision(rows, intercept = true)
        val (reached, optimum) = exact.logistic(model.coefficients.toArray, model.intercept, regParam)
        check(s"regParam $regParam", told, reached, optimum)
        data.unpersist()
      }
    }
  }
}

private object ProofSuite {

  /** Of objectives that are sums of doubles. */
  private val Rounding = 1e-14

  private val m = 160
  private val n = 8

  /** Shapes where doubles cannot hold the best model: the coefficients are too large for the digits of a prediction. */
  private def isBeyond(name: String): Boolean =
    name.contains("1e-11") || name.contains("1e-14") || name.contains("1e-10")

  private def normal(random: Random)(i: Int, j: Int): Double = random.nextGaussian()

  /** Rows of these features; the label has a part of every direction of them. */
  private def rows(random: Random, x: Array[Array[Double]], weight: Int => Double = _ => 1.0): Seq[Row] =
    x.indices.map { i =>
      val hidden = new Random(1000 + i).nextGaussian()
      Row(x(i), x(i)(0) / scale(x, 0) - hidden + random.nextGaussian(), weight(i))
    }

  private def scale(x: Array[Array[Double]], j: Int): Double = math.sqrt(x.map(row => row(j) * row(j)).sum / x.length)

  private def gaussian(random: Random, columns: Int = n, rows: Int = m): Array[Array[Double]] =
    Array.tabulate(rows, columns)(normal(random))

  /** Copies of the first columns with a deviation. */
  private def copies(deviation: Double, times: Int)(random: Random): Seq[Row] = {
    val base = gaussian(random, n / times)
    rows(
      random,
      base.map(row =>
        Array.tabulate(n)(j => row(j % row.length) + (if (j < row.length) 0.0 else deviation * random.nextGaussian()))))
  }

  /** U S V' with random orthogonal factors and singular values that fall from 1 to `least` evenly by their logarithm. */
  private def spectrum(least: Double)(random: Random): Seq[Row] = {
    val (u, v) = (orthogonal(gaussian(random)), orthogonal(gaussian(random, n, n)))
    val values = Array.tabulate(n)(k => math.pow(least, k / (n - 1.0)))
    rows(random, u.map(row => Array.tabulate(n)(j => (0 until n).map(k => row(k) * values(k) * v(j)(k)).sum)))
  }

  private def orthogonal(x: Array[Array[Double]]): Array[Array[Double]] = {
    val q = x.map(_.clone())
    for (_ <- 0 until 2; j <- q.head.indices) {
      for (k <- 0 until j) {
        val product = q.map(row => row(j) * row(k)).sum
        q.foreach(row => row(j) -= product * row(k))
      }
      val norm = math.sqrt(q.map(row => row(j) * row(j)).sum)
      q.foreach(row => row(j) /= norm)
    }
    q
  }

  private val shapes: Seq[(String, Random => Seq[Row])] = Seq(
    "independent features" -> (random => rows(random, gaussian(random))),
    "twins of 1e-3" -> copies(1e-3, 2) _,
    "twins of 1e-6" -> copies(1e-6, 2) _,
    "twins of 1e-8" -> copies(1e-8, 2) _,
    "twins of 1e-10" -> copies(1e-10, 2) _,
    "triplets of 1e-7" -> copies(1e-7, 3) _,
    "columns twice" -> copies(0.0, 2) _,
    "a spectrum to 1e-5" -> spectrum(1e-5) _,
    "a spectrum to 1e-8" -> spectrum(1e-8) _,
    "a spectrum to 1e-11" -> spectrum(1e-11) _,
    "a spectrum to 1e-14" -> spectrum(1e-14) _,
    "columns of scale 1e-9 and 1e9" -> (random =>
      rows(
        random,
        gaussian(random).map(row => row.zipWithIndex.map { case (x, j) => x * Seq(1e-9, 1.0, 1e9)(j % 3) }))),
    "all categories of two columns" -> (random =>
      rows(
        random,
        Array.fill(m) {
          val (a, b) = (random.nextInt(4), random.nextInt(4))
          Array.tabulate(n)(j => if (j == a || j == 4 + b) 1.0 else 0.0)
        })),
    "weights over ten decades" -> (random => rows(random, gaussian(random), i => math.pow(10.0, (i % 11) - 5.0))),
    "means far from 0" -> (random => rows(random, gaussian(random).map(_.map(_ + 1e5)))))
}

/** Objectives and their optima in decimals of 80 digits. */
private[ml] final class ExtendedPrecision(rows: Seq[Row], intercept: Boolean) {
  import ExtendedPrecision._

  private val x = rows.map(row => (row.x ++ (if (intercept) Seq(1.0) else Nil)).map(new Decimal(_))).toArray
  private val y = rows.map(row => new Decimal(row.label)).toArray
  private val s = rows.map(row => new Decimal(row.weight)).toArray
  private val total = s.reduce(_.add(_, Digits))
  private val n = x.head.length

  private def model(coefficients: Array[Double], constant: Double): Array[Decimal] =
    (coefficients ++ (if (intercept) Seq(constant) else Nil)).map(new Decimal(_))

  private def predictions(w: Array[Decimal]): Array[Decimal] = x.map(dot(_, w))

  private def mean(numbers: Array[Decimal]): Decimal = divided(dot(numbers, s), total)

  /** Half the mean squared error. */
  def squared(coefficients: Array[Double], constant: Double): Double = {
    val errors = predictions(model(coefficients, constant)).zip(y).map { case (z, y) => y.subtract(z, Digits) }
    0.5 * mean(errors.map(e => e.multiply(e, Digits))).doubleValue
  }

  /** The least value of [[squared]]. */
  def leastSquares: Double = {
    val w = solve(weighted(s), (0 until n).map(j => dot(x.map(_(j)), times(y, s))).toArray)
    val errors = predictions(w).zip(y).map { case (z, y) => y.subtract(z, Digits) }
    0.5 * mean(errors.map(e => e.multiply(e, Digits))).doubleValue
  }

  /** The mean logistic loss and `regParam` times half the square of the coefficients: of a model, and the least one. */
  def logistic(coefficients: Array[Double], constant: Double, regParam: Double): (Double, Double) = {
    val l2 = new Decimal(regParam)
    val signs = y.map(label => if (label.signum > 0) Decimal.ONE else Decimal.ONE.negate)
    def value(w: Array[Decimal]): Decimal = {
      val losses = predictions(w).zip(signs).map { case (z, sign) => log1pExp(z.multiply(sign).negate) }
      val own = w.take(rows.head.x.length)
      mean(losses).add(l2.multiply(dot(own, own), Digits).divide(new Decimal(2), Digits), Digits)
    }
    var w = model(coefficients, constant)
    val reached = value(w)
    var least = reached
    var decrease = Decimal.ONE
    var rounds = 0
    while (decrease.compareTo(Least) > 0 && rounds < 60) {
      val q = predictions(w).zip(signs).map { case (z, sign) => sigmoid(z.multiply(sign).negate) }
      val slopes =
        q.zip(signs).zip(s).map { case ((q, sign), s) => divided(q.multiply(sign).multiply(s, Digits), total) }
      val gradient = (0 until n).map { j =>
        val penalty = if (j < rows.head.x.length) l2.multiply(w(j), Digits) else Decimal.ZERO
        dot(x.map(_(j)), slopes).subtract(penalty, Digits)
      }.toArray
      val curves =
        q.zip(s).map { case (q, s) => divided(q.multiply(Decimal.ONE.subtract(q), Digits).multiply(s, Digits), total) }
      val hessian = weighted(curves)
      for (j <- rows.head.x.indices) hessian(j)(j) = hessian(j)(j).add(l2, Digits)
      val step = solve(hessian, gradient)
      decrease = dot(step, gradient).abs
      // Half of a step at a time, while it leads up.
      var part = Decimal.ONE
      var next = moved(w, step, part)
      while (value(next).compareTo(least) > 0 && part.compareTo(Smallest) > 0) {
        part = part.multiply(Half)
        next = moved(w, step, part)
      }
      if (part.compareTo(Smallest) <= 0) rounds = 60
      else {
        w = next
        least = value(w)
      }
      rounds += 1
    }
    (reached.doubleValue, least.doubleValue)
  }

  private def moved(w: Array[Decimal], step: Array[Decimal], part: Decimal): Array[Decimal] =
    w.zip(step).map { case (w, d) => w.add(d.multiply(part, Digits), Digits) }

  /** X' diag(weights) X */
  private def weighted(weights: Array[Decimal]): Array[Array[Decimal]] =
    Array.tabulate(n, n)((i, j) => dot(x.map(_(i)), times(x.map(_(j)), weights)))
}

private[ml] object ExtendedPrecision {

  final case class Row(x: Array[Double], label: Double, weight: Double)

  private val Digits = new MathContext(80)
  private val Half = new Decimal(0.5)
  private val Smallest = new Decimal("1e-12")
  private val Least = new Decimal("1e-40")

  /** A pivot below it is 0 but for rounding. */
  private val Zero = new Decimal("1e-60")

  private def dot(a: Array[Decimal], b: Array[Decimal]): Decimal =
    a.indices.foldLeft(Decimal.ZERO)((sum, i) => sum.add(a(i).multiply(b(i), Digits), Digits))

  private def times(a: Array[Decimal], b: Array[Decimal]): Array[Decimal] =
    a.zip(b).map { case (a, b) => a.multiply(b, Digits) }

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
    val halvings = 10
    val part = z.divide(new Decimal(1 << halvings), Digits)
    var (term, sum) = (Decimal.ONE, Decimal.ONE)
    for (k <- 1 to 40) {
      term = term.multiply(part, Digits).divide(new Decimal(k), Digits)
      sum = sum.add(term, Digits)
    }
    (0 until halvings).foreach(_ => sum = sum.multiply(sum, Digits))
    sum
  }

  private def sigmoid(z: Decimal): Decimal = divided(Decimal.ONE, Decimal.ONE.add(exp(z.negate), Digits))

  /** log(1 + exp z), by Newton's method on exp from the double's logarithm. */
  private def log1pExp(z: Decimal): Decimal = {
    val target = Decimal.ONE.add(exp(z), Digits)
    var log = new Decimal(if (z.doubleValue > 30.0) z.doubleValue else math.log1p(math.exp(z.doubleValue)))
    // Each step of third order has three times the digits.
    for (_ <- 0 until 2) {
      val e = exp(log)
      log = log.add(new Decimal(2).multiply(target.subtract(e, Digits)).divide(target.add(e, Digits), Digits), Digits)
    }
    log
  }
}
