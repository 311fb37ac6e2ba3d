package dwell.connect

import org.apache.spark.ml.classification.{LinearSVC => SparkLinearSVC, LinearSVCModel}
import org.apache.spark.ml.util.{Identifiable, MLWriter}
import org.apache.spark.sql.Dataset

import dwell.ml.classification.{LinearSVC => NativeLinearSVC}

/** Spark's `LinearSVC`, whose `fit` is Dwell's. What it writes and reads is Spark's own class, which every client knows. */
final class LinearSVC(override val uid: String) extends SparkLinearSVC(uid) {

  def this() = this(Identifiable.randomUID("linearsvc"))

  override def fit(dataset: Dataset[_]): LinearSVCModel = copyValues(new NativeLinearSVC(uid)).fit(dataset)

  override def write: MLWriter = copyValues(new SparkLinearSVC(uid)).write
}
