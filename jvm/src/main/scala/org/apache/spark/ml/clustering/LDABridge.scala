package org.apache.spark.ml.clustering

import org.apache.spark.ml.util.DatasetUtils
import org.apache.spark.mllib.clustering.{LocalLDAModel => OldLocalLDAModel}
import org.apache.spark.mllib.linalg.{DenseMatrix, Vectors}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{Dataset, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow

/** Members private to Spark ML that `dwell.ml.clustering.LDA` needs. */
object LDABridge {

  /** Rows in Spark's memory format, whose only column is the vector of a document's counts; null if there is none. */
  def documents(dataset: Dataset[_], featuresCol: String): RDD[InternalRow] =
    dataset.select(DatasetUtils.columnToVector(dataset, featuresCol)).queryExecution.toRdd

  /**
   * A model that stores its topics as Spark's own training stores them.
   *
   * @param lambda
   *   parameters of the topics' Dirichlet distributions; that of word w and topic k is at w K + k, where K is the
   *   length of `alpha`
   * @param alpha
   *   prior of the topics in a document
   * @param eta
   *   prior of a word in a topic
   */
  def model(
      uid: String,
      lambda: Array[Double],
      alpha: Array[Double],
      eta: Double,
      seed: Long,
      session: SparkSession): LocalLDAModel = {
    val vocabulary = lambda.length / alpha.length
    val topics = new DenseMatrix(vocabulary, alpha.length, lambda, isTransposed = true)
    val old = new OldLocalLDAModel(topics, Vectors.dense(alpha), eta, GammaShape).setSeed(seed)
    new LocalLDAModel(uid, vocabulary, old, session)
  }

  /** What holds the topics of a model; its copies share it. */
  def topics(model: LDAModel): AnyRef = model.getModel

  /** Spark's own value, for the topics of a document. */
  private val GammaShape = 100.0
}
