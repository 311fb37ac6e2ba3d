package dwell.cluster

import scala.util.Random
import scala.util.hashing.byteswap64

import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.sql.{DataFrame, SparkSession}

/**
 * Generated data of any size, not cached and not held anywhere: each row is a function of its number. Rows have `label`, the
 * sum of the first features and noise, `class`, 0 or 1 by the label's sign, and `features`.
 */
private[cluster] object GeneratedData {

  /** Values that no float holds exactly. */
  def dense(spark: SparkSession, rows: Long, features: Int, partitions: Int = Partitions): DataFrame =
    labelled(spark, rows, partitions)(random => Vectors.dense(Array.fill(features)(random.nextGaussian())))

  /** Whole numbers from -8 to 7. */
  def small(spark: SparkSession, rows: Long, features: Int, partitions: Int = Partitions): DataFrame =
    labelled(spark, rows, partitions) { random =>
      val bits = random.nextLong()
      Vectors.dense(Array.tabulate(features)(j => ((bits >>> (4 * j) & 15L) - 8L).toDouble))
    }

  /** Ones in features of which few are frequent. */
  def hashed(spark: SparkSession, rows: Long, features: Int, partitions: Int = Partitions): DataFrame =
    labelled(spark, rows, partitions) { random =>
      val ids = Array.fill(Fields)(math.pow(features.toDouble, random.nextDouble()).toInt - 1 + random.nextInt(2))
      val distinct = ids.map(id => (byteswap64(id.toLong) & Int.MaxValue).toInt % features).distinct.sorted
      Vectors.sparse(features, distinct, Array.fill(distinct.length)(1.0))
    }

  /** Counts of words, in the only column `features`. */
  def documents(spark: SparkSession, documents: Long, vocabulary: Int, words: Int): DataFrame = {
    val data = generated(spark, documents, Partitions) { random =>
      val ids = Array.fill(words)((vocabulary * math.pow(random.nextDouble(), 2.0)).toInt).distinct.sorted
      Tuple1(Vectors.sparse(vocabulary, ids, ids.map(_ => 1.0 + random.nextInt(4))): Vector)
    }
    spark.createDataFrame(data).toDF("features")
  }

  private def labelled(spark: SparkSession, rows: Long, partitions: Int)(draw: Random => Vector): DataFrame = {
    val data = generated(spark, rows, partitions) { random =>
      val x = draw(random)
      var margin = random.nextGaussian()
      x.foreachActive((feature, value) =>
        if (feature < Telling || x.numActives < x.size) margin += sign(feature) * value)
      (margin, if (margin > 0.0) 1.0 else 0.0, x)
    }
    spark.createDataFrame(data).toDF("label", "class", "features")
  }

  private def generated[R: reflect.ClassTag](spark: SparkSession, rows: Long, partitions: Int)(row: Random => R) =
    spark.sparkContext.range(0L, rows, 1L, partitions).map(number => row(new Random(byteswap64(number))))

  private def sign(feature: Int): Double = if ((byteswap64(feature.toLong) & 1L) == 0L) 1.0 else -1.0

  /** Two for each slot. */
  private val Partitions = 4
  private val Fields = 20
  private val Telling = 10
}
