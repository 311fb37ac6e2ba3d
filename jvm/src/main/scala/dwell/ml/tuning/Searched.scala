package dwell.ml.tuning

import org.apache.spark.ml.{Estimator, Model, Pipeline, PipelineStage, Transformer}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.tuning.FoldBridge
import org.apache.spark.sql.{DataFrame, Dataset}

import dwell.data.FoldedRows
import dwell.ml.training.{FitIterator, LinearTraining}
import dwell.ml.tuning.metric.TrainingColumns
import dwell.solver.LinearTrainer

/**
 * An estimator whose fits can share rows: one of our linear ones, or a pipeline that ends with one and whose other stages
 * give a row for each row.
 *
 * @param linear
 *   the linear estimator
 * @param before
 *   the stages before it
 * @param pipeline
 *   the pipeline, if it is one
 */
private[tuning] final class Searched[M <: Model[M]] private (
    linear: LinearTraining[M],
    before: Seq[PipelineStage],
    pipeline: Option[Pipeline]) {

  /** The uid of the linear estimator. */
  def uid: String = linear.uid

  /** The classes of the stages that need a fit. */
  def toFit: Seq[String] = before.collect { case estimator: Estimator[_] => estimator.getClass.getSimpleName }.distinct

  /** The stages before the linear estimator, fitted to a dataset where they need a fit. */
  def stagesOn(dataset: Dataset[_]): Seq[Transformer] = {
    val (stages, _) = before.foldLeft((Seq.empty[Transformer], dataset.toDF())) { case ((stages, data), stage) =>
      val made = stage match {
        case estimator: Estimator[_] => estimator.fit(data).asInstanceOf[Transformer]
        case transformer: Transformer => transformer
      }
      (stages :+ made, made.transform(data))
    }
    stages
  }

  /** The data that the linear estimator is fitted to, after these stages. */
  def prepared(dataset: Dataset[_], stages: Seq[Transformer]): DataFrame =
    stages.foldLeft(dataset.toDF())((data, stage) => stage.transform(data))

  /** Reads the prepared data; None if fits on the folds have to say what is wrong with them. */
  def read(maps: Seq[ParamMap], data: DataFrame, split: Split): Option[FoldedRows] = {
    val tasks = maps.map(map => linear.copy(map).asInstanceOf[LinearTraining[M]].task(data))
    linear.readFolded(tasks, data, split.column, split.sets)(split.folds)
  }

  /** The linear models of the maps, in their order, on prepared data, or on rows that were read of them. `done` is called after each. */
  def fitted(maps: Seq[ParamMap], data: DataFrame, rows: Option[LinearTrainer])(done: => Unit): Seq[Model[_]] = {
    val fits = new FitIterator(linear, data, maps, rows)
    def next() = {
      val fit = fits.next()
      done
      fit
    }
    try Iterator.continually(next()).take(maps.size).toSeq.sortBy(_.index).map(_.model)
    finally fits.close()
  }

  /** The model that the estimator's own fit would return, of these stages and a linear model. */
  def whole(stages: Seq[Transformer], fitted: Model[_]): Model[_] =
    pipeline match {
      case Some(pipeline) => FoldBridge.pipelineModel(pipeline, stages :+ fitted)
      case None => fitted
    }

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

  /** None if a map of Params changes another stage, or reads other columns than another map. */
  def of(estimator: Estimator[_], maps: Seq[ParamMap]): Option[Searched[_]] = {
    val found = estimator match {
      case linear: LinearTraining[_] => Some(alone(linear))
      case pipeline: Pipeline => inPipeline(pipeline, maps)
      case _ => None
    }
    found.filter(searched => maps.nonEmpty && searched.isOneTable(maps))
  }

  private def alone[M <: Model[M]](linear: LinearTraining[M]): Searched[_] =
    new Searched[M](linear, Seq.empty, None)

  private def inPipeline(pipeline: Pipeline, maps: Seq[ParamMap]): Option[Searched[_]] = {
    val stages = if (pipeline.isDefined(pipeline.stages)) pipeline.getStages.toSeq else Seq.empty
    val before = stages.dropRight(1).filter(givesEachRow)
    val isKnown = before.size == stages.size - 1 && maps.forall(_.toSeq.forall { pair =>
      stages.lastOption.exists(_.uid == pair.param.parent)
    })
    stages.lastOption.collect { case linear: LinearTraining[_] if isKnown => after(pipeline, before, linear) }
  }

  private def after[M <: Model[M]](
      pipeline: Pipeline,
      before: Seq[PipelineStage],
      linear: LinearTraining[M]): Searched[_] =
    new Searched[M](linear, before, Some(pipeline))

  /** Whether a stage keeps all rows, in their order: which fold a row is in depends on its position. */
  private def givesEachRow(stage: PipelineStage): Boolean =
    stage.getClass.getName.startsWith(
      "org.apache.spark.ml.feature.") && stage.getClass.getSimpleName != "SQLTransformer" &&
      (!stage.hasParam("handleInvalid") || !stage.get(stage.getParam("handleInvalid")).contains("skip"))
}
