package dwell.connect

import org.apache.spark.ml.clustering.{LDA => SparkLDA, LDAModel}
import org.apache.spark.ml.util.{Identifiable, MLWriter}
import org.apache.spark.sql.Dataset

import dwell.ml.clustering.{LDA => NativeLDA}

/** Spark's `LDA`, whose `fit` is Dwell's. What it writes and reads is Spark's own class, which every client knows. */
final class LDA(override val uid: String) extends SparkLDA(uid) {

  def this() = this(Identifiable.randomUID("lda"))

  override def fit(dataset: Dataset[_]): LDAModel = copyValues(new NativeLDA(uid)).fit(dataset)

  override def write: MLWriter = copyValues(new SparkLDA(uid)).write
}
