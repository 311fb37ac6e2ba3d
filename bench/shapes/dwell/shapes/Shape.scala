package dwell.shapes

import scala.util.Random

import org.apache.spark.ml.linalg.{Vector, Vectors}

/**
 * A row.
 *
 * @param target
 *   label for regression
 * @param cls
 *   label for classification, 0 or 1
 */
final case class Row(target: Double, cls: Double, w: Double, features: Vector)

/**
 * Data of a kind that users have.
 *
 * @param standardization
 *   the Param
 * @param weighted
 *   whether rows have weights
 */
final case class Shape(
    name: String,
    rows: IndexedSeq[Row],
    standardization: Boolean = true,
    weighted: Boolean = false) {
  override def toString: String = name
}

object Shape {

  /** Every shape, with so many times the rows of the smallest size and, where features are many, as many times the features. */
  def all(times: Int = 1): Seq[Shape] = new Shapes(times).all
}

private final class Shapes(times: Int) {

  def all: Seq[Shape] = Seq(
    correlated,
    doubled,
    heavyTailed,
    scales,
    rareClass,
    nearlySeparable,
    oneHot,
    wordCounts,
    moreFeaturesThanRows,
    weights,
    binary,
    constantLabel,
    duplicates,
    sortedDense,
    sortedOneHot)

  /** Columns that share one factor, which explains all but 1e-4 of their variance. */
  private def correlated: Shape = Shape(
    "correlated columns",
    rows(1, 600 * times, 20) { (random, n) =>
      val common = random.nextGaussian()
      Array.fill(n)(common + 1e-2 * random.nextGaussian())
    })

  /** Each column twice, the second time with noise of 1e-6. */
  private def doubled: Shape = Shape(
    "doubled columns",
    rows(2, 600 * times, 20) { (random, n) =>
      val half = Array.fill(n / 2)(random.nextGaussian())
      half ++ half.map(_ + 1e-6 * random.nextGaussian())
    })

  /** Cauchy features: a few values are thousands of times the others. */
  private def heavyTailed: Shape = Shape(
    "heavy tails",
    rows(3, 600 * times, 20)((random, n) => Array.fill(n)(math.tan(math.Pi * (random.nextDouble() - 0.5)))))

  /** Deviations from 1e-4 to 1e4, and means of the same size. */
  private def scales: Shape = Shape(
    "scales from 1e-4 to 1e4",
    rows(4, 600 * times, 17)((random, n) =>
      Array.tabulate(n)(j => math.pow(10.0, (j % 9) - 4.0) * (random.nextGaussian() + (j % 3)))))

  /** One row of a hundred is of the second class. */
  private def rareClass: Shape = {
    val plain = rows(5, 800 * times, 12)((random, n) => Array.fill(n)(random.nextGaussian()))
    val least = plain.map(_.target).sorted.apply(792 * times)
    Shape("a rare class", plain.map(row => row.copy(cls = if (row.target >= least) 1.0 else 0.0)))
  }

  /** A plane separates all rows but three. */
  private def nearlySeparable: Shape = {
    val plain = rows(6, 500 * times, 10)((random, n) => Array.fill(n)(random.nextGaussian()))
    Shape(
      "nearly separable",
      plain.zipWithIndex.map { case (row, i) =>
        val right = if (row.features(0) + 0.5 * row.features(1) > 0.0) 1.0 else 0.0
        row.copy(cls = if (i % 167 == 0) 1.0 - right else right)
      })
  }

  /** Three categories, one-hot, of which most values are in one row or two. */
  private def oneHot: Shape = {
    val random = new Random(7)
    val size = 300 * times
    val effect = Array.fill(3 * size)(random.nextGaussian())
    Shape(
      "one-hot with rare values",
      IndexedSeq.fill(800 * times) {
        val hot = Array.tabulate(3)(c => c * size + (size * math.pow(random.nextDouble(), 4.0)).toInt)
        val target = hot.map(effect(_)).sum + random.nextGaussian()
        Row(target, sign(target), 1.0, Vectors.sparse(3 * size, hot, Array(1.0, 1.0, 1.0)))
      })
  }

  /** Counts of words by a power law, many more words than a row has. */
  private def wordCounts: Shape = {
    val random = new Random(8)
    val size = 2000 * times
    val effect = Array.fill(size)(0.5 * random.nextGaussian())
    Shape(
      "word counts, not standardised",
      IndexedSeq.fill(600 * times) {
        val words = Array.fill(60)((size * math.pow(random.nextDouble(), 3.0)).toInt)
        val counts = words.groupBy(identity).map { case (word, all) => (word, all.length.toDouble) }.toSeq.sortBy(_._1)
        val target = counts.map { case (word, count) => effect(word) * count }.sum + random.nextGaussian()
        Row(target, sign(target), 1.0, Vectors.sparse(size, counts))
      },
      standardization = false)
  }

  private def moreFeaturesThanRows: Shape =
    Shape(
      "more features than rows",
      rows(9, 150 * times, 400 * times)((random, n) => Array.fill(n)(random.nextGaussian())))

  /** Weights from 1e-3 to 1e3. */
  private def weights: Shape = {
    val random = new Random(10)
    Shape(
      "weights over six decades",
      rows(10, 600 * times, 12)((random, n) => Array.fill(n)(random.nextGaussian()))
        .map(_.copy(w = math.pow(10.0, 6.0 * random.nextDouble() - 3.0))),
      weighted = true)
  }

  private def binary: Shape =
    Shape("all binary", rows(11, 600 * times, 20)((random, n) => Array.fill(n)(random.nextInt(2).toDouble)))

  private def constantLabel: Shape = Shape(
    "a constant label",
    rows(12, 300 * times, 10)((random, n) => Array.fill(n)(random.nextGaussian())).map(_.copy(target = 3.0, cls = 1.0)))

  /** Forty rows, many times each. */
  private def duplicates: Shape = {
    val few = rows(13, 40, 15)((random, n) => Array.fill(n)(random.nextGaussian()))
    Shape("duplicates of rows", IndexedSeq.fill(20 * times)(few).flatten)
  }

  /** Rows sorted by time: a day, of which each has a dummy that whole stretches of rows lack, and five numbers. */
  private def sortedDense: Shape = {
    val random = new Random(14)
    val days = 20 * times
    val effect = Array.fill(days)(random.nextGaussian())
    val numbers = 5
    val count = 800 * times
    Shape(
      "sorted by time, dense",
      IndexedSeq.tabulate(count) { i =>
        val day = (i.toLong * days / count).toInt
        val x = Array.fill(numbers)(random.nextGaussian())
        val target = effect(day) + x.sum / numbers + random.nextGaussian()
        Row(target, sign(target), 1.0, Vectors.dense(Array.tabulate(days)(d => if (d == day) 1.0 else 0.0) ++ x))
      })
  }

  /** The same with one-hot categories beside the day, stored sparse, all values of each. */
  private def sortedOneHot: Shape = {
    val random = new Random(15)
    val (days, places) = (15 * times, 40)
    val effect = Array.fill(days + places)(random.nextGaussian())
    val count = 800 * times
    Shape(
      "sorted by time, one-hot",
      IndexedSeq.tabulate(count) { i =>
        val hot = Array((i.toLong * days / count).toInt, days + (places * math.pow(random.nextDouble(), 3.0)).toInt)
        val number = random.nextGaussian()
        val target = hot.map(effect(_)).sum + 0.5 * number + random.nextGaussian()
        Row(
          target,
          sign(target),
          1.0,
          Vectors.sparse(days + places + 1, hot :+ (days + places), Array(1.0, 1.0, number)))
      })
  }

  /** Rows with a linear target and noise, the classes its signs. */
  private def rows(seed: Int, count: Int, columns: Int)(features: (Random, Int) => Array[Double]): IndexedSeq[Row] = {
    val random = new Random(seed)
    val x = IndexedSeq.fill(count)(features(random, columns))
    val deviation = Array.tabulate(columns)(j => math.sqrt(x.map(row => row(j) * row(j)).sum / count))
    x.map { row =>
      val signal = row.indices.map(j => row(j) / deviation(j) * ((j % 5) - 2)).sum / math.sqrt(columns.toDouble)
      val target = signal + 0.5 * random.nextGaussian()
      Row(target, sign(target), 1.0, Vectors.dense(row))
    }
  }

  private def sign(target: Double): Double = if (target > 0.0) 1.0 else 0.0
}
