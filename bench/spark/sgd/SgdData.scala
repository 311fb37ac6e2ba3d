package dwell.bench.sgd

import scala.util.Random
import scala.util.hashing.byteswap64

import org.apache.spark.ml.linalg.{SparseVector, Vector, Vectors}
import org.apache.spark.mllib.linalg.{Vector => OldVector, Vectors => OldVectors}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{DataFrame, SparkSession}

import dwell.bench.BenchData

/**
 * Generated data of a shape, cached in the two forms that the systems compared take, and a part that is held out. Labels are 0
 * and 1: a planted linear score (of the features, 5% have a weight that is not 0) plus noise, above a threshold.
 *
 * @param scale
 *   of rows and features
 * @param workers
 *   partitions of each form
 */
private[bench] final class SgdData(
    spark: SparkSession,
    val shape: SgdShape,
    scale: Double,
    seed: Long,
    val workers: Int) {
  import SgdData._

  private val allRows = math.max(LeastRows, (shape.rows * scale).toInt)
  private val heldOutRows = (allRows * HeldOut).toInt

  val numRows: Int = allRows - heldOutRows
  val numFeatures: Int = math.max(LeastFeatures, (shape.features * scale).toInt)

  private val labels = Labels(new Planted(shape, numFeatures, seed))

  /** Columns `label` and `features`. */
  val train: DataFrame =
    BenchData.cached(spark.createDataFrame(generated(0, numRows)).toDF("label", "features"))

  /** The same rows, as `org.apache.spark.mllib` takes them. */
  val points: RDD[(Double, OldVector)] =
    cached(train.rdd.map(r => (r.getDouble(0), OldVectors.fromML(r.getAs[Vector](1)))))

  val heldOut: RDD[(Double, OldVector)] =
    cached(generated(numRows, allRows).map { case (label, x) => (label, OldVectors.fromML(x)) })

  val nonzeros: Long = points.map(_._2.numActives.toLong).sum().toLong

  /** Mean of the squared norms of the rows, by which step sizes are chosen. */
  val squareNorm: Double = points.map { case (_, x) => OldVectors.norm(x, 2.0) * OldVectors.norm(x, 2.0) }.mean()

  def about: String = s"shaped like ${shape.name}: $numRows rows x $numFeatures features, $nonzeros nonzeros"

  def unpersist(): Unit = {
    train.unpersist(blocking = true)
    Seq(points, heldOut).foreach(_.unpersist(blocking = true))
  }

  private def generated(from: Int, until: Int): RDD[(Double, Vector)] = {
    val (theShape, features, theSeed, rule, k) = (shape, numFeatures, seed, labels, workers)
    spark.sparkContext.parallelize(0 until k, k).flatMap { part =>
      val planted = new Planted(theShape, features, theSeed)
      (from + part until until by k).iterator.map { j =>
        val row = planted.row(j)
        (rule(row), row.features: Vector)
      }
    }
  }

  private def cached(rows: RDD[(Double, OldVector)]): RDD[(Double, OldVector)] = {
    rows.cache().count()
    rows
  }
}

private[bench] object SgdData {
  private val HeldOut = 0.1
  private val LeastRows = 1000
  private val LeastFeatures = 1000

  /** For each entry of a row. */
  private val MostTrials = 20

  /** Rows from which the distribution of the scores is taken; they are no part of the data. */
  private val Sampled = 4000

  /** @param noise standard normal */
  private final case class Row(features: SparseVector, score: Double, noise: Double)

  /** Row j is a function of shape, seed and j. */
  private final class Planted(val shape: SgdShape, numFeatures: Int, seed: Long) {
    private val popularity = new BenchData.Zipf(numFeatures, shape.exponent, shape.shift)

    def row(j: Int): Row = {
      val random = new Random(byteswap64(byteswap64(seed) + j))
      val length = math.max(1, (shape.entries * math.exp(logLength(random))).toInt)
      val ids = distinct(random, length)
      // Values are exact as floats, so that every system can keep them in as few bytes as it likes.
      val value = if (shape.unitRows) (1.0 / math.sqrt(ids.length.toDouble)).toFloat.toDouble else 1.0
      val features = Vectors.sparse(numFeatures, ids, Array.fill(ids.length)(value)).asInstanceOf[SparseVector]
      Row(features, ids.map(BenchData.plantedWeight(_, seed)).sum, random.nextGaussian())
    }

    /** Log-normal with mean 1. */
    private def logLength(random: Random): Double =
      shape.lengthSigma * random.nextGaussian() - shape.lengthSigma * shape.lengthSigma / 2.0

    /** As many as that, or as are found in a number of trials: the popular ones come up again and again. */
    private def distinct(random: Random, length: Int): Array[Int] = {
      val seen = new java.util.TreeSet[Int]()
      var trials = 0
      while (seen.size < length && trials < MostTrials * length) {
        seen.add(popularity.sample(random))
        trials += 1
      }
      val ids = new Array[Int](seen.size)
      val each = seen.iterator
      ids.indices.foreach(i => ids(i) = each.next())
      ids
    }
  }

  /** 1 where the score, in units of its deviation, and the noise come to more than a limit. */
  private final case class Labels(deviation: Double, noise: Double, limit: Double) {
    def apply(row: Row): Double = if (value(row) > limit) 1.0 else 0.0
    private def value(row: Row): Double = row.score / deviation + noise * row.noise
  }

  private object Labels {
    def apply(planted: Planted): Labels = {
      val rows = (1 to Sampled).map(j => planted.row(-j))
      val mean = rows.map(_.score).sum / Sampled
      val deviation = math.sqrt(rows.map(r => (r.score - mean) * (r.score - mean)).sum / Sampled)
      val unlimited = Labels(deviation, planted.shape.noise, 0.0)
      val values = rows.map(unlimited.value).sorted
      unlimited.copy(limit = values(math.min(Sampled - 1, (Sampled * (1.0 - planted.shape.positives)).toInt)))
    }
  }
}
