package dwell.ml.training

import org.apache.spark.ml.{Estimator, Model}
import org.apache.spark.ml.param.shared._
import org.apache.spark.sql.Dataset

/** A linear estimator whose fits can share training data. */
private[ml] trait SharingEstimator[M <: Model[M]]
    extends Estimator[M]
    with HasFeaturesCol
    with HasLabelCol
    with HasWeightCol
    with HasRegParam {

  /** Fits on data that other fits use as well. */
  private[training] def fitSharing(dataset: Dataset[_], rows: SharedRows): M
}
