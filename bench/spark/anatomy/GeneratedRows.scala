package dwell.bench.anatomy

import scala.util.Random
import scala.util.hashing.byteswap64

import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.sql.{DataFrame, SparkSession}

/**
 * Generated rows, not cached: `features`, a number `label` and a `class` of 0 or 1. The label is a planted margin, in which
 * every feature has a weight, and noise of half its deviation; the class is its sign. A row is a function of seed and number.
 */
private[bench] final class GeneratedRows(spark: SparkSession, seed: Long) {
  import GeneratedRows._

  /** Gaussian values, all of them stored. */
  def dense(rows: Int, features: Int): DataFrame =
    labelled(rows)(random => Vectors.dense(Array.fill(features)(random.nextGaussian())))

  /** Gaussian values in features of equal popularity. */
  def sparse(rows: Int, features: Int, entries: Int): DataFrame = labelled(rows) { random =>
    val ids = Array.fill(entries)(random.nextInt(features)).distinct.sorted
    Vectors.sparse(features, ids, ids.map(_ => random.nextGaussian()))
  }

  /**
   * Categories by hash, a one for each field. The fields have from a few to a million categories, and few of them are
   * frequent: most features are rare.
   */
  def hashed(rows: Int, features: Int, fields: Int): DataFrame = labelled(rows) { random =>
    val ids = Array.tabulate(fields) { field =>
      val categories = math.pow(MostCategories, (field + 1.0) / fields)
      val category = math.pow(categories, random.nextDouble()).toLong
      java.lang.Long.remainderUnsigned(byteswap64(byteswap64(field.toLong) + category), features.toLong).toInt
    }
    val distinct = ids.distinct.sorted
    Vectors.sparse(features, distinct, Array.fill(distinct.length)(1.0))
  }

  private def labelled(rows: Int)(draw: Random => Vector): DataFrame = {
    // A task gets the seed and not this object, which holds the session.
    val from = seed
    val data = spark.sparkContext.parallelize(0 until Parts, Parts).flatMap { part =>
      (part until rows by Parts).iterator.map(row(from, _, draw))
    }
    spark.createDataFrame(data).toDF("label", "class", "features")
  }
}

private[bench] object GeneratedRows {

  /** Source partitions: two for each slot. */
  private val Parts = 4
  private val Noise = 0.5

  /** Of a field. */
  private val MostCategories = 1e6

  private def row(seed: Long, number: Int, draw: Random => Vector): (Double, Double, Vector) = {
    val random = new Random(byteswap64(byteswap64(seed) + number))
    val x = draw(random)
    var margin = 0.0
    x.foreachActive((feature, value) => margin += value * weight(seed, feature))
    val label = math.sqrt(3.0 / x.numActives) * margin + Noise * random.nextGaussian()
    (label, if (label > 0.0) 1.0 else 0.0, x)
  }

  /** Uniform in -1 to 1. */
  private def weight(seed: Long, feature: Int): Double =
    (byteswap64(byteswap64(seed + 1L) + feature) >> 11).toDouble / (1L << 52).toDouble
}
