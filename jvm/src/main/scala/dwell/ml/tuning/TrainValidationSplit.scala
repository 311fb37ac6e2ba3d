package dwell.ml.tuning

import org.apache.spark.ml.tuning.{FoldBridge, TrainValidationSplit => SparkTrainValidationSplit, TrainValidationSplitModel}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.util.Identifiable
import org.apache.spark.sql.{DataFrame, Dataset}
import org.apache.spark.sql.catalyst.expressions.RowOrdering

import dwell.data.folds.Folds

/**
 * Spark's `TrainValidationSplit`, which reads the rows once for all maps of Params. Params, split, metrics and models are Spark's: see
 * [[CrossValidator]].
 */
class TrainValidationSplit(override val uid: String) extends SparkTrainValidationSplit(uid) {

  def this() = this(Identifiable.randomUID("tvs"))

  override def fit(dataset: Dataset[_]): TrainValidationSplitModel = {
    transformSchema(dataset.schema, logging = true)
    Search.open(uid, getEstimator, getEvaluator, getEstimatorParamMaps.toSeq, ordered(dataset), getCollectSubModels)(
      split(dataset)) match {
      case None => super.fit(dataset)
      case Some(search) =>
        try {
          val models = if (getCollectSubModels) Some(search.models.head) else None
          logInfo(s"Train validation split metrics: ${search.metrics.head.toSeq}")
          val best = search.onAllRows(Search.best(getEvaluator, search.metrics.head))
          copyValues(FoldBridge.model(this, best, search.metrics.head, models))
        } finally search.close()
    }
  }

  override def copy(extra: ParamMap): TrainValidationSplit = super.copy(extra).asInstanceOf[TrainValidationSplit]

  /** In the order of `Dataset.randomSplit`. */
  private def ordered(dataset: Dataset[_]): DataFrame = {
    val columns = dataset.schema.filter(field => RowOrdering.isOrderable(field.dataType)).map(_.name)
    if (columns.isEmpty) dataset.toDF()
    else dataset.toDF().sortWithinPartitions(columns.map(c => dataset.col(s"`$c`")): _*)
  }

  private def split(dataset: Dataset[_]): Split = {
    val shares = Array(getTrainRatio, 1.0 - getTrainRatio)
    val ends = shares.map(_ / shares.sum).scanLeft(0.0)(_ + _).tail
    def random(partitions: Int) = Folds.Random(ends.toSeq, Array.tabulate(partitions)(getSeed + _))
    def frames: Seq[(DataFrame, DataFrame)] = {
      val Array(training, heldOut) = dataset.toDF().randomSplit(shares, getSeed)
      Seq((training, heldOut))
    }
    new Split(column = None, random(_), Seq(Set(0)), frames)
  }
}
