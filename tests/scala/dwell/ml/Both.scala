package dwell.ml

import org.apache.spark.ml.classification.{LogisticRegression => SparkLogisticRegression, LogisticRegressionModel}
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression, LinearRegressionModel}
import org.apache.spark.sql.DataFrame

import dwell.ml.classification.LogisticRegression
import dwell.ml.regression.LinearRegression

/** Dwell's model and Spark's own, with the same Params. Spark's own is of rows in one partition, so that it is always the same. */
object Both {
  def linear(data: DataFrame)(set: SparkLinearRegression => Any): (LinearRegressionModel, LinearRegressionModel) = {
    val (ours, stock) = (new LinearRegression(), new SparkLinearRegression())
    Seq(ours, stock).foreach(set)
    (ours.fit(data), stock.fit(data.coalesce(1)))
  }

  def logistic(data: DataFrame)(
      set: SparkLogisticRegression => Any): (LogisticRegressionModel, LogisticRegressionModel) = {
    val (ours, stock) = (new LogisticRegression(), new SparkLogisticRegression())
    Seq(ours, stock).foreach(set)
    (ours.fit(data), stock.fit(data.coalesce(1)))
  }
}
