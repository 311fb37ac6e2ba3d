package dwell.ml.tuning

import org.apache.spark.ml.{Estimator, Model, Pipeline, PipelineStage, Transformer}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.tuning.FoldBridge
import org.apache.spark.sql.{DataFrame, Dataset}

import dwell.data.{FoldedRows, TrainingRows}
import dwell.ml.training.{FitIterator, LinearTraining}

/**
 * An estimator whose fits can share rows that are read once: one of our linear ones, or a pipeline that ends with one and whose other stages
 * need no fit and give a row for each row.
 *
 * @param linear
 *   the linear estimator
 * @param before
 *   the stages before it
 * @param stages
 *   the model of the estimator, from the linear estimator's
 */
private[tuning] final class Searched[M <: Model[M]] private (
    linear: LinearTraining[M],
    before: Seq[Transformer],
    stages: M => Model[_]) {

  /** The uid of the linear estimator. */
  def uid: String = linear.uid

  /** The data that the linear estimator is fitted to. */
  def prepared(dataset: Dataset[_]): DataFrame =
    before.foldLeft(dataset.toDF())((data, stage) => stage.transform(data))

  /** Reads the prepared data; None if fits on the folds have to say what is wrong with them. */
  def read(maps: Seq[ParamMap], data: DataFrame, split: Split): Option[FoldedRows] = {
    val tasks = maps.map(map => linear.copy(map).asInstanceOf[LinearTraining[M]].task(data))
    linear.readFolded(tasks, data, split.column, split.sets)(split.folds)
  }

  /** The linear models of the maps, in their order, on rows that were read of prepared data. */
  def fitted(maps: Seq[ParamMap], data: DataFrame, rows: TrainingRows): Seq[Model[_]] = {
    val fits = new FitIterator(linear, data, maps, Some(rows))
    try Iterator.continually(fits).takeWhile(_.hasNext).map(_.next()).toSeq.sortBy(_.index).map(_.model)
    finally fits.close()
  }

  /** The model that the estimator's own fit would return, of a linear one. */
  def whole(fitted: Model[_]): Model[_] = stages(fitted.asInstanceOf[M])

  /** Whether all maps have the same columns. */
  private def isOneTable(maps: Seq[ParamMap]): Boolean = {
    val own = maps.map(map => linear.copy(map).asInstanceOf[LinearTraining[M]])
    own.map(e => (e.getFeaturesCol, e.getLabelCol, e.get(e.weightCol).getOrElse(""))).distinct.size == 1
  }

  /** The columns that the linear estimator is trained on. */
  def columns: TrainingColumns =
    TrainingColumns(linear.getFeaturesCol, linear.getLabelCol, linear.get(linear.weightCol).filter(_.nonEmpty))
}

private[tuning] object Searched {

  /** None if each fold needs a fit of its own, or reads other columns for one map of Params than for another. */
  def of(estimator: Estimator[_], maps: Seq[ParamMap]): Option[Searched[_]] = {
    val found = estimator match {
      case linear: LinearTraining[_] => Some(alone(linear))
      case pipeline: Pipeline => inPipeline(pipeline, maps)
      case _ => None
    }
    found.filter(searched => maps.nonEmpty && searched.isOneTable(maps))
  }

  private def alone[M <: Model[M]](linear: LinearTraining[M]): Searched[_] =
    new Searched[M](linear, Seq.empty, model => model)

  private def inPipeline(pipeline: Pipeline, maps: Seq[ParamMap]): Option[Searched[_]] = {
    val stages = if (pipeline.isDefined(pipeline.stages)) pipeline.getStages.toSeq else Seq.empty
    val before = stages.dropRight(1).collect { case stage: Transformer if givesEachRow(stage) => stage }
    val isKnown = before.size == stages.size - 1 && maps.forall(_.toSeq.forall { pair =>
      stages.lastOption.exists(_.uid == pair.param.parent)
    })
    stages.lastOption.collect { case linear: LinearTraining[_] if isKnown => after(pipeline, before, linear) }
  }

  private def after[M <: Model[M]](
      pipeline: Pipeline,
      before: Seq[Transformer],
      linear: LinearTraining[M]): Searched[_] =
    new Searched[M](linear, before, model => FoldBridge.pipelineModel(pipeline, before :+ model))

  /** Whether a stage keeps all rows, in their order: which fold a row is in depends on its position. */
  private def givesEachRow(stage: PipelineStage): Boolean =
    stage.getClass.getName.startsWith(
      "org.apache.spark.ml.feature.") && stage.getClass.getSimpleName != "SQLTransformer" &&
      (!stage.hasParam("handleInvalid") || !stage.get(stage.getParam("handleInvalid")).contains("skip"))
}
