package dwell.bench.lda

import scala.util.Random

import org.apache.spark.ml.linalg.Vector
import org.apache.spark.mllib.linalg.{Vector => OldVector, Vectors => OldVectors}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{DataFrame, SparkSession}

import dwell.bench.BenchData

/**
 * Documents to find topics in, and some that are held out to judge them.
 *
 * @param documents
 *   cached: column `features`, counts of words
 * @param oracle
 *   perplexity of the topics that the documents come from, where they are known
 */
private[bench] final class LdaCorpus private (
    val name: String,
    val documents: DataFrame,
    val completion: DocumentCompletion,
    val oracle: Option[Double]) {

  val vocabulary: Int = documents.first().getAs[Vector](0).size

  private val counts = documents.rdd.map { row =>
    val values = row.getAs[Vector](0).toSparse.values
    (1L, values.length.toLong, values.sum)
  }

  /** Documents, distinct words of each of them, and words. */
  val (size: Long, nonzeros: Long, words: Double) = counts.reduce((a, b) => (a._1 + b._1, a._2 + b._2, a._3 + b._3))

  /** As files of rows take them: without labels. */
  def rows: RDD[(Double, OldVector)] = documents.rdd.map(row => (0.0, OldVectors.fromML(row.getAs[Vector](0))))

  def unpersist(): Unit = {
    documents.unpersist(blocking = true)
    ()
  }

  def about: String =
    f"$name: $size documents, vocabulary $vocabulary, ${words / size}%.0f words and ${nonzeros.toDouble / size}%.0f distinct ones a document" +
      oracle.fold("")(p => f", perplexity of the planted topics $p%.1f") + f", ${completion.heldWords}%.0f words held"
}

private[bench] object LdaCorpus {

  /** The corpus that is no [[LdaShape]]. */
  val Packages = "packages"

  /** Two for each slot. */
  private val Parts = 4
  private val HeldOut = 2000

  def generated(spark: SparkSession, shape: LdaShape, scale: Double, seed: Long): LdaCorpus = {
    val size = (shape.documents * scale).toInt
    val topics = new PlantedTopics(shape, seed)
    val completion = halves((size until size + math.min(HeldOut, size)).map(topics.document), seed)
    val planted = completion.judged(shape.vocabulary, PlantedTopics.Topics)(topics.apply)
    new LdaCorpus(
      shape.name,
      BenchData.cached(documents(spark, shape.copy(documents = size), seed)),
      completion,
      Some(completion.perplexity(planted, PlantedTopics.Alpha)))
  }

  /** Generated documents, not cached: column `features`. */
  def documents(spark: SparkSession, shape: LdaShape, seed: Long): DataFrame = {
    val made = spark.sparkContext.parallelize(0 until Parts, Parts).flatMap { part =>
      val topics = new PlantedTopics(shape, seed)
      (part until shape.documents by Parts).iterator.map(j => Tuple1(topics.document(j)))
    }
    spark.createDataFrame(made).toDF("features")
  }

  /**
   * Descriptions of packages.
   *
   * @param share
   *   of them
   */
  def packages(spark: SparkSession, path: String, share: Double, seed: Long): LdaCorpus = {
    val all = BenchData.counts(spark, path, share).repartition(Parts).cache()
    val held = math.min(0.5, HeldOut.toDouble / all.count())
    val Array(documents, heldOut) = all.randomSplit(Array(1.0 - held, held), seed)
    val completion = halves(heldOut.collect().toSeq.map(_.getAs[Vector](0)), seed)
    val corpus = new LdaCorpus(Packages, BenchData.cached(documents), completion, None)
    all.unpersist()
    corpus
  }

  /** Each word of a document is observed or held, as a coin says. */
  private def halves(documents: Seq[Vector], seed: Long): DocumentCompletion = {
    val random = new Random(seed)
    new DocumentCompletion(documents.map { document =>
      val counts = document.toSparse
      val observed = counts.values.map(n => (1 to n.toInt).count(_ => random.nextBoolean()).toDouble)
      def half(values: Array[Double]) = {
        val (words, positive) = counts.indices.zip(values).filter(_._2 > 0.0).unzip
        DocumentCompletion.Half(words, positive)
      }
      DocumentCompletion.Halves(half(observed), half(counts.values.zip(observed).map { case (n, o) => n - o }))
    })
  }
}
