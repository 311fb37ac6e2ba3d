package dwell.ml

import scala.util.Random

import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.sql.{DataFrame, SparkSession}

/** Data of two classes, columns label, w and features. */
object ClassificationData {

  /** Correlated features with means far from zero, of very different scales, one constant and one all zero. */
  def dense(spark: SparkSession, positive: Double, rows: Int = 150): DataFrame = {
    val random = new Random(17)
    frame(
      spark,
      Seq.fill(rows) {
        val y = if (random.nextDouble() < positive) 1.0 else 0.0
        val common = random.nextGaussian()
        val x = Array.tabulate(6) { i =>
          (0.5 * common + random.nextGaussian() + (if (i % 2 == 0) 0.8 * y else 0.0)) * math.pow(
            3.0,
            i - 2) + 2.0 * (i % 3)
        }
        (y, 0.25 + random.nextInt(4).toDouble, Vectors.dense(x ++ Array(2.5, 0.0)): Vector)
      })
  }

  /** Sparse counts with a power law, some rows empty. */
  def sparse(spark: SparkSession, positive: Double, rows: Int = 200): DataFrame = {
    val random = new Random(23)
    val features = 40
    frame(
      spark,
      Seq.fill(rows) {
        val entries = Seq.fill(random.nextInt(8))((features * math.pow(random.nextDouble(), 2.0)).toInt).distinct.sorted
        val score = entries.filter(_ < 8).map(i => if (i % 2 == 0) 1.0 else -1.0).sum + random.nextGaussian()
        val x = Vectors.sparse(features, entries.map(i => (i, 1.0 + random.nextInt(3))))
        (if (score > threshold(positive)) 1.0 else 0.0, 0.5 + random.nextInt(3), x: Vector)
      })
  }

  def frame(spark: SparkSession, rows: Seq[(Double, Double, Vector)]): DataFrame =
    spark.createDataFrame(rows).toDF("label", "w", "features").repartition(3).cache()

  private def threshold(positive: Double): Double = if (positive < 0.3) 1.8 else 0.0
}

/** Rows of a DataFrame as the reference solver takes them. */
final class LocalRows(data: DataFrame, weighted: Boolean) {
  private val rows = data
    .select("label", "w", "features")
    .collect()
    .map(r => (r.getDouble(0), if (weighted) r.getDouble(1) else 1.0, r.getAs[Vector](2).toArray))
    .filter(_._2 > 0.0)
  val features: Array[Array[Double]] = rows.map(_._3)
  val weights: Array[Double] = rows.map(_._2)

  /** -1 or 1. */
  val signs: Array[Double] = rows.map(r => if (r._1 > 0.5) 1.0 else -1.0)

  /** Factor from the variance of the population to that of the sample. */
  val sampleFactor: Double = weights.sum / (weights.sum - weights.map(w => w * w).sum / weights.sum)
}
