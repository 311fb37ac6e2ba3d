package dwell.ml.tuning

import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.tuning.{CrossValidator => SparkCrossValidator, CrossValidatorModel, FoldBridge}
import org.apache.spark.ml.util.Identifiable
import org.apache.spark.mllib.util.MLUtils
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{DataFrame, Dataset, Row}
import org.apache.spark.sql.types.StructType

import dwell.data.folds.Folds

/**
 * Spark's `CrossValidator`, which reads the rows once for all folds and all maps of Params. Params, folds, metrics and models are Spark's: the
 * same seed gives the same folds, and `fit` returns Spark's own `CrossValidatorModel`.
 *
 * It does so where the estimator is one of `dwell.ml`, or a pipeline that ends with one and whose other stages are Spark's own and keep all
 * rows. Where a stage needs a fit, the rows are read once for each training set. Otherwise Spark's own search runs. Fits take turns, so that `parallelism` changes nothing but Spark's own searches.
 */
class CrossValidator(override val uid: String) extends SparkCrossValidator(uid) {

  def this() = this(Identifiable.randomUID("cv"))

  override def fit(dataset: Dataset[_]): CrossValidatorModel = {
    transformSchema(dataset.schema, logging = true)
    Search.open(uid, getEstimator, getEvaluator, getEstimatorParamMaps.toSeq, dataset, getCollectSubModels)(
      split(dataset)) match {
      case None => super.fit(dataset)
      case Some(search) =>
        try {
          val metrics = search.metrics.transpose.map(_.sum / getNumFolds)
          val models = if (getCollectSubModels) Some(search.models) else None
          logInfo(s"Average cross-validation metrics: ${metrics.toSeq}")
          val best = search.onAllRows(Search.best(getEvaluator, metrics))
          copyValues(FoldBridge.model(this, best, metrics, models))
        } finally search.close()
    }
  }

  override def copy(extra: ParamMap): CrossValidator = super.copy(extra).asInstanceOf[CrossValidator]

  private def split(dataset: Dataset[_]): Split = {
    val count = getNumFolds
    val column = Some(getFoldCol).filter(_.nonEmpty)
    val sets = (0 until count).map(fold => (0 until count).toSet - fold)
    def frames: Seq[(DataFrame, DataFrame)] = {
      val schema = StructType(dataset.schema.filterNot(field => column.contains(field.name)))
      val folds =
        column.fold(MLUtils.kFold(dataset.toDF().rdd, count, getSeed))(MLUtils.kFold(dataset.toDF(), count, _))
      def frame(rows: RDD[Row]) = dataset.sparkSession.createDataFrame(rows, schema)
      folds.toSeq.map { case (training, heldOut) => (frame(training), frame(heldOut)) }
    }
    // Spark's borders are floats.
    def random(partitions: Int) =
      Folds.Random((1 to count).map(_ / count.toFloat).map(_.toDouble), FoldBridge.seeds(getSeed, partitions))
    new Split(column, if (column.isDefined) _ => Folds.Named(count) else random(_), sets, frames)
  }
}
