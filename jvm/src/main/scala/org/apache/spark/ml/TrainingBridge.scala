package org.apache.spark.ml

import sun.reflect.ReflectionFactory

import org.apache.spark.ml.classification.ClassifierParams
import org.apache.spark.ml.param.shared.HasWeightCol
import org.apache.spark.ml.util.{DatasetUtils, MetadataUtils}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.Dataset
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.functions.{col, lit}

import dwell.data.matrix.StoredVector

/**
 * Members private to Spark ML that all estimators of Dwell need. The bridges hold only such members, and resolve all
 * differences between Spark versions.
 */
object TrainingBridge {

  /**
   * Rows in Spark's memory format, with the columns of [[dwell.data.block.TrainingRow]]. Label and weight are cast and
   * checked by Spark's own rules and with Spark's own messages, as in `DatasetUtils.extractInstances`. Its check of the
   * vectors calls a function for each value; the reader checks them.
   *
   * @param numClasses
   *   the only number of classes that a classifier takes; None for any number
   * @param fold
   *   the column of folds, if there is one
   */
  def rows(
      estimator: PredictorParams,
      dataset: Dataset[_],
      numClasses: Option[Int] = None,
      fold: Option[String] = None): RDD[InternalRow] = {
    val label = estimator match {
      case classifier: ClassifierParams => DatasetUtils.checkClassificationLabels(classifier.getLabelCol, numClasses)
      case _ => DatasetUtils.checkRegressionLabels(estimator.getLabelCol)
    }
    val weight = estimator match {
      case weighted: HasWeightCol => DatasetUtils.checkNonNegativeWeights(weighted.get(weighted.weightCol))
      case _ => lit(1.0)
    }
    val columns = Seq(label, weight, col(estimator.getFeaturesCol)) ++ fold.map(col(_).cast("int"))
    dataset.select(columns: _*).queryExecution.toRdd
  }

  /**
   * The length of the feature vectors, which Spark ML takes from the column's metadata or from the first row.
   *
   * @param rows
   *   the rows that are to be read: a query for the first one alone would have to be planned as well
   * @param ordinal
   *   position of the vector in `rows`
   * @throws IllegalArgumentException
   *   if there is neither, or the first row holds what is no vector; Spark's code would throw a less helpful exception
   */
  def numFeatures(dataset: Dataset[_], featuresCol: String, rows: => RDD[InternalRow], ordinal: Int): Int =
    MetadataUtils.getNumFeatures(dataset.schema(featuresCol)).getOrElse {
      // The user's Kryo may refuse classes that are not registered. Arrays of strings are.
      val first = rows.map { row =>
        StoredVector.size(row, ordinal) match {
          case Some(Right(size)) => Array(size.toString)
          case Some(Left(problem)) => Array("", problem)
          case None => Array.empty[String]
        }
      }
      first.take(1).headOption match {
        case Some(Array(size)) => size.toInt
        case Some(Array(_, problem)) =>
          throw new IllegalArgumentException(s"Column '$featuresCol', the first row: $problem. ${StoredVector.Fix}.")
        case _ =>
          throw new IllegalArgumentException(
            s"There are no rows to train on, or the first one has no vector (column '$featuresCol'). Check the filters and joins " +
              "that the DataFrame came from, and drop the rows without features, for example with Dataset.na.drop.")
      }
    }

  /**
   * An object whose constructor did not run, as serialisation makes them: the constructors of Spark's summaries plan
   * queries or run jobs.
   */
  def withoutConstructor[T <: AnyRef](kind: Class[T]): T =
    kind.cast(
      ReflectionFactory.getReflectionFactory
        .newConstructorForSerialization(kind, classOf[Object].getConstructor())
        .newInstance())

  /** The number of classes that the metadata of the label column names. */
  def numClasses(dataset: Dataset[_], labelCol: String): Option[Int] =
    MetadataUtils.getNumClasses(dataset.schema(labelCol))
}
