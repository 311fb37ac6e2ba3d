package dwell.ml.parity

import java.nio.file.{Files, Paths}

import scala.jdk.CollectionConverters._

import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.sql.{DataFrame, SparkSession}

/** Scikit-learn's handwritten digits. */
private[parity] object Digits {

  /** Images of scikit-learn's copy. */
  private val Images = 1797

  /** Images to train on, and every third, which is held out; each in two partitions. */
  def of(spark: SparkSession): Seq[DataFrame] = {
    val file = sys.env.getOrElse(
      "DWELL_DIGITS",
      throw new IllegalStateException("DWELL_DIGITS must name what tests/python/digits.py has written"))
    val rows = Files.readAllLines(Paths.get(file)).asScala.toSeq.map { line =>
      val numbers = line.split(',').map(_.toDouble)
      (numbers.head, Vectors.dense(numbers.tail))
    }
    require(rows.size == Images, s"${rows.size} images")
    val (held, rest) = rows.zipWithIndex.partition { case (_, i) => i % 3 == 0 }
    Seq(rest, held).map(part => spark.createDataFrame(part.map(_._1)).toDF("label", "features").repartition(2).cache())
  }
}
