package org.apache.spark.ml

import org.apache.spark.ml.util.{DatasetUtils, MetadataUtils}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.Dataset

import dwell.data.block.LabeledRow

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

  /**
   * Length of the feature vectors, from the column's metadata or from the first row, as Spark ML finds it.
   *
   * @throws IllegalArgumentException
   *   if there is neither, in the place of what Spark's code runs into
   */
  def numFeatures(dataset: Dataset[_], featuresCol: String): Int =
    try DatasetUtils.getNumFeatures(dataset, featuresCol)
    catch {
      case e @ (_: NoSuchElementException | _: NullPointerException) =>
        throw new IllegalArgumentException(
          s"There are no rows to train on, or the first one has no vector (column '$featuresCol'). Check the filters and joins " +
            "that the DataFrame came from, and drop the rows without features, for example with Dataset.na.drop.",
          e)
    }

  /** Number of classes that the metadata of the label column names. */
  def numClasses(dataset: Dataset[_], labelCol: String): Option[Int] =
    MetadataUtils.getNumClasses(dataset.schema(labelCol))
}
