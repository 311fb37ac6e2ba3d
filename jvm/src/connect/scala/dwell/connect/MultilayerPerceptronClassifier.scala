package dwell.connect

import org.apache.spark.ml.classification.{MultilayerPerceptronClassificationModel, MultilayerPerceptronClassifier => SparkMultilayerPerceptronClassifier}
import org.apache.spark.ml.util.{Identifiable, MLWriter}
import org.apache.spark.sql.Dataset

import dwell.ml.classification.{MultilayerPerceptronClassifier => NativeMultilayerPerceptronClassifier}

/**
 * Spark's `MultilayerPerceptronClassifier`, whose `fit` is Dwell's. What it writes and reads is Spark's own class, which every client knows.
 */
final class MultilayerPerceptronClassifier(override val uid: String) extends SparkMultilayerPerceptronClassifier(uid) {

  def this() = this(Identifiable.randomUID("mlpc"))

  override def fit(dataset: Dataset[_]): MultilayerPerceptronClassificationModel =
    copyValues(new NativeMultilayerPerceptronClassifier(uid)).fit(dataset)

  override def write: MLWriter = copyValues(new SparkMultilayerPerceptronClassifier(uid)).write
}
