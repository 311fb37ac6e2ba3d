package dwell.ml

import scala.util.Random

import org.apache.spark.ml.Model
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.regression.LinearRegressionModel
import org.apache.spark.sql.DataFrame

import dwell.{CheckLong, SparkSuite}
import dwell.ml.ExtendedPrecision.{Hinge, Huber, Logistic, Row, Softmax, SquaredHinge, Squares}
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression
import dwell.report.{FitReport, LinearFitReport}

/**
 * A proof is true, by every method that has one: no model is better than a fit's by more than the gap that its report names, on data whose features all but explain one
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

  private def check(clue: String, told: LinearFitReport, exact: ExtendedPrecision, model: Seq[Double]): Unit = {
    val reached = exact.objective(model)
    val excess = reached - exact.least(model)
    // A perfect fit is missed by the rounding of the labels.
    assert(
      excess <= told.gap + Rounding * reached + Nothing,
      s"$clue: told ${told.gap}, true $excess of $reached, ${told.algorithm}")
    // Means far from 0 cost digits of the predictions.
    assert(
      math.abs(told.objective - reached) <= told.gap + 10.0 * Rounding * reached,
      s"$clue: ${told.objective}, not $reached")
  }

  for (((name, shape), number) <- shapes.zipWithIndex) {
    test(s"LinearRegression without a penalty, $name") {
      for (intercept <- Seq(true, false)) {
        val rows = shape(new Random(11))
        val data = frame(rows)
        val model = new LinearRegression().setWeightCol("w").setFitIntercept(intercept).fit(data)
        val told = report(model)
        check(s"intercept $intercept", told, new ExtendedPrecision(rows, intercept, Squares), numbers(model, intercept))
        if (!isBeyond(name)) {
          assert(
            told.converged && told.gap <= 1e-6 * told.objective + Nothing,
            s"intercept $intercept: ${told.gap} of ${told.objective}")
        }
        data.unpersist()
      }
    }

    // Decimals take their time.
    val chosen = if (CheckLong.everything) fits else Seq(fits(2 * number % fits.size))
    for (fit <- chosen) {
      test(s"${fit.name}, $name") {
        val rows = fit.labelled(shape(new Random(12)).grouped(2).map(_.head).toSeq)
        val data = frame(rows)
        val (told, numbers) = fit.train(data)
        check(fit.name, told, fit.exact(rows), numbers)
        data.unpersist()
      }
    }
  }
}

private object ProofSuite {

  /** An estimator, the labels that it takes, and its objective. */
  private final case class Fit(
      name: String,
      labelled: Seq[Row] => Seq[Row],
      train: DataFrame => (LinearFitReport, Seq[Double]),
      exact: Seq[Row] => ExtendedPrecision)

  private def report(model: Model[_]): LinearFitReport = FitReport.of(model).asInstanceOf[LinearFitReport]

  private def numbers(model: LinearRegressionModel, intercept: Boolean): Seq[Double] =
    model.coefficients.toArray.toSeq ++ (if (intercept) Seq(model.intercept) else Nil)

  /** A fifth of the labels is of another class. */
  private def classes(count: Int)(rows: Seq[Row]): Seq[Row] = {
    val sorted = rows.map(_.label).sorted
    val random = new Random(13)
    rows.map { row =>
      val own = (1 until count).count(k => row.label > sorted(k * sorted.length / count))
      row.copy(label = if (random.nextDouble() < 0.2) random.nextInt(count).toDouble else own.toDouble)
    }
  }

  /** A tenth of the labels is far off. */
  private def outliers(rows: Seq[Row]): Seq[Row] = {
    val random = new Random(14)
    rows.map(row => if (random.nextDouble() < 0.1) row.copy(label = row.label + 30.0 * random.nextGaussian()) else row)
  }

  /** The deviation of the labels, by which Spark divides the L2 penalty of a linear regression (`normal`). */
  private def deviation(rows: Seq[Row]): Double = {
    val total = rows.map(_.weight).sum
    val mean = rows.map(row => row.weight * row.label).sum / total
    math.sqrt(rows.map(row => row.weight * math.pow(row.label - mean, 2)).sum / total)
  }

  private def squares(algorithm: String, orientation: String, lambda: Double, net: Double): Fit =
    Fit(
      s"LinearRegression by $algorithm $orientation, $lambda, $net",
      identity,
      { data =>
        val trainer = new LinearRegression().setWeightCol("w").setStandardization(false).setAlgorithm(algorithm)
        val model =
          trainer.setOrientation(orientation).setRegParam(lambda).setElasticNetParam(net).setMaxIter(200).fit(data)
        (report(model), numbers(model, intercept = true))
      },
      rows =>
        new ExtendedPrecision(rows, intercept = true, Squares, lambda * net, lambda * (1.0 - net) / deviation(rows)))

  private def huber(algorithm: String, lambda: Double): Fit =
    Fit(
      s"the huber loss by $algorithm, $lambda",
      outliers,
      { data =>
        val trainer = new LinearRegression().setLoss("huber").setWeightCol("w").setStandardization(false)
        val model = trainer.setAlgorithm(algorithm).setRegParam(lambda).setMaxIter(200).fit(data)
        (report(model), numbers(model, intercept = true) :+ model.scale)
      },
      rows => new ExtendedPrecision(rows, intercept = true, new Huber(1.35), 0.0, lambda))

  private def logistic(algorithm: String, orientation: String, lambda: Double, net: Double, count: Int = 2): Fit =
    Fit(
      s"LogisticRegression of $count classes by $algorithm $orientation, $lambda, $net",
      classes(count),
      { data =>
        val trainer = new LogisticRegression().setWeightCol("w").setStandardization(false).setAlgorithm(algorithm)
        val model =
          trainer.setOrientation(orientation).setRegParam(lambda).setElasticNetParam(net).setMaxIter(200).fit(data)
        val outputs = model.coefficientMatrix.rowIter.toSeq.zip(model.interceptVector.toArray)
        (report(model), outputs.flatMap { case (coefficients, intercept) => coefficients.toArray.toSeq :+ intercept })
      },
      rows =>
        new ExtendedPrecision(
          rows,
          intercept = true,
          if (count == 2) Logistic else new Softmax(count),
          lambda * net,
          lambda * (1.0 - net)))

  private def hinge(loss: String, algorithm: String, orientation: String, lambda: Double): Fit =
    Fit(
      s"LinearSVC with the $loss by $algorithm $orientation, $lambda",
      classes(2),
      { data =>
        val trainer = new LinearSVC().setLoss(loss).setWeightCol("w").setStandardization(false).setAlgorithm(algorithm)
        val model = trainer.setOrientation(orientation).setRegParam(lambda).setMaxIter(200).fit(data)
        (report(model), model.coefficients.toArray.toSeq :+ model.intercept)
      },
      rows => new ExtendedPrecision(rows, intercept = true, if (loss == "hinge") Hinge else SquaredHinge, 0.0, lambda))

  /** Each method that has a certificate, with each loss and penalty that it trains. */
  private val fits: Seq[Fit] =
    Seq(0.0, 1e-9, 1e-3).map(logistic("newton", "auto", _, 0.0)) ++
      Seq("newton", "l-bfgs", "cocoa").flatMap { algorithm =>
        Seq(0.0, 0.5, 1.0).map(logistic(algorithm, "auto", 1e-2, _)) ++
          Seq(0.0, 0.5, 1.0).map(squares(algorithm, "auto", 1e-2, _)) ++
          Seq("hinge", "squaredHinge").map(hinge(_, algorithm, "auto", 1e-2))
      } ++
      Seq(
        squares("cocoa", "dual", 1e-3, 0.0),
        squares("cocoa", "primal", 1e-3, 0.5),
        logistic("cocoa", "primal", 1e-2, 1.0),
        logistic("newton", "auto", 0.0, 0.0, 3),
        logistic("newton", "auto", 1e-2, 0.5, 3),
        logistic("l-bfgs", "auto", 1e-2, 0.0, 3),
        logistic("l-bfgs", "auto", 1e-2, 1.0, 3),
        huber("newton", 0.0),
        huber("newton", 1e-2))

  /** Of objectives and bounds that are differences of sums of doubles. */
  private val Rounding = 1e-12
  private val Nothing = 1e-30

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
    "more features than rows" -> (random => rows(random, gaussian(random, 3 * n, 20))),
    "means far from 0" -> (random => rows(random, gaussian(random).map(_.map(_ + 1e5)))))
}
