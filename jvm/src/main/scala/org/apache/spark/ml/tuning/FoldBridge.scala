package org.apache.spark.ml.tuning

import java.util.Random

import org.apache.spark.ml.{Model, Pipeline, PipelineModel, Transformer}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.util.HasTrainingSummary
import org.apache.spark.util.random.XORShiftRandom

/** Members private to Spark that a search needs. */
object FoldBridge {

  /** The numbers in [0, 1) that Spark's samplers draw for the rows of a partition with this seed. */
  def uniform(seed: Long): () => Double = {
    val random = new XORShiftRandom
    random.setSeed(seed)
    () => random.nextDouble()
  }

  /** The seed of each of so many partitions: see `PartitionwiseSampledRDD`. */
  def seeds(seed: Long, partitions: Int): Array[Long] = {
    val random = new Random(seed)
    Array.fill(partitions)(random.nextLong())
  }

  /** A copy of a model that tasks can have: without its summary, which knows the training data. */
  def alone(model: Model[_]): Model[_] = model.copy(ParamMap.empty).asInstanceOf[Model[_]] match {
    case summarised: HasTrainingSummary[_] =>
      summarised.setSummary(None)
      summarised.asInstanceOf[Model[_]]
    case other => other
  }

  /** The model of a pipeline whose stages were fitted one by one. */
  def pipelineModel(pipeline: Pipeline, stages: Seq[Transformer]): PipelineModel =
    new PipelineModel(pipeline.uid, stages.toArray).setParent(pipeline)

  /** Spark's model of a cross-validation. */
  def model(
      validator: CrossValidator,
      best: Model[_],
      metrics: Array[Double],
      models: Option[Array[Array[Model[_]]]]): CrossValidatorModel =
    new CrossValidatorModel(validator.uid, best, metrics).setSubModels(models).setParent(validator)

  /** Spark's model of a validation on one split. */
  def model(
      validator: TrainValidationSplit,
      best: Model[_],
      metrics: Array[Double],
      models: Option[Array[Model[_]]]): TrainValidationSplitModel =
    new TrainValidationSplitModel(validator.uid, best, metrics).setSubModels(models).setParent(validator)
}
