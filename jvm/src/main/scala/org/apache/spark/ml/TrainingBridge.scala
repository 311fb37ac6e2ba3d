package org.apache.spark.ml

import org.apache.spark.ml.util.{DatasetUtils, MetadataUtils}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.Dataset

import dwell.data.LabeledRow

/**
 * What Spark ML keeps private and all estimators of Dwell need. The bridges hold nothing else, and everything that
 * differs between Spark versions is resolved in them.
 */
object TrainingBridge {

  /**
   * Label, weight and features of each row, cast and checked by Spark's own rules and with Spark's own messages.
   *
   * @param numClasses
   *   of a classifier that takes no other number
   */
  def rows(estimator: PredictorParams, dataset: Dataset[_], numClasses: Option[Int] = None): RDD[LabeledRow] =
    DatasetUtils
      .extractInstances(estimator, dataset, numClasses)
      .map(i => LabeledRow(i.label, i.weight, i.features))

  /** Length of the feature vectors, from the column's metadata or from the first row, as Spark ML finds it. */
  def numFeatures(dataset: Dataset[_], featuresCol: String): Int =
    DatasetUtils.getNumFeatures(dataset, featuresCol)

  /** Number of classes that the metadata of the label column names. */
  def numClasses(dataset: Dataset[_], labelCol: String): Option[Int] =
    MetadataUtils.getNumClasses(dataset.schema(labelCol))
}
