package dwell.connect

import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression, LinearRegressionModel}
import org.apache.spark.ml.util.{Identifiable, MLWriter}
import org.apache.spark.sql.Dataset

import dwell.ml.regression.{LinearRegression => NativeLinearRegression}

/** Spark's `LinearRegression`, whose `fit` is Dwell's. What it writes and reads is Spark's own class, which every client knows. */
final class LinearRegression(override val uid: String) extends SparkLinearRegression(uid) {

  def this() = this(Identifiable.randomUID("linReg"))

  override def fit(dataset: Dataset[_]): LinearRegressionModel =
    copyValues(new NativeLinearRegression(uid)).fit(dataset)

  override def write: MLWriter = copyValues(new SparkLinearRegression(uid)).write
}
