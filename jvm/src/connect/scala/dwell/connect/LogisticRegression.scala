package dwell.connect

import org.apache.spark.ml.classification.{LogisticRegression => SparkLogisticRegression, LogisticRegressionModel}
import org.apache.spark.ml.util.{Identifiable, MLWriter}
import org.apache.spark.sql.Dataset

import dwell.ml.classification.{LogisticRegression => NativeLogisticRegression}

/** Spark's `LogisticRegression`, whose `fit` is Dwell's. What it writes and reads is Spark's own class, which every client knows. */
final class LogisticRegression(override val uid: String) extends SparkLogisticRegression(uid) {

  def this() = this(Identifiable.randomUID("logreg"))

  override def fit(dataset: Dataset[_]): LogisticRegressionModel =
    copyValues(new NativeLogisticRegression(uid)).fit(dataset)

  override def write: MLWriter = copyValues(new SparkLogisticRegression(uid)).write
}
