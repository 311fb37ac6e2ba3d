package org.apache.spark.ml.classification

import org.apache.spark.ml.ann.FeedForwardTopology
import org.apache.spark.ml.linalg.Vector
import org.apache.spark.sql.Dataset

/** Members private to Spark ML that `dwell.ml.classification.MultilayerPerceptronClassifier` needs. */
object MultilayerPerceptronBridge {

  /** The value of the Param `solver` for L-BFGS. */
  val Lbfgs: String = MultilayerPerceptronClassifier.LBFGS

  /**
   * The weights that Spark starts from.
   *
   * @param initial
   *   the user's weights, if there are any
   * @throws IllegalArgumentException
   *   in Spark's words, if they are not as many as the layers need
   */
  def start(layers: Array[Int], initial: Option[Vector], seed: Long): Array[Double] = {
    val topology = FeedForwardTopology.multiLayerPerceptron(layers, softmaxOnTop = true)
    initial.fold(topology.model(seed))(topology.model(_)).weights.toArray
  }

  /** A model of these weights. */
  def model(uid: String, weights: Vector): MultilayerPerceptronClassificationModel =
    new MultilayerPerceptronClassificationModel(uid, weights)

  /**
   * Attaches Spark's training summary. The caller must have copied the Params to the model, because the summary reads the column names
   * from them.
   *
   * @param objectiveHistory
   *   objective at the start and after each round
   */
  def attachSummary(
      model: MultilayerPerceptronClassificationModel,
      dataset: Dataset[_],
      objectiveHistory: Array[Double]): MultilayerPerceptronClassificationModel = {
    val (summaryModel, _, predictionColumn) = model.findSummaryModel()
    val summary = new MultilayerPerceptronClassificationTrainingSummaryImpl(
      summaryModel.transform(dataset),
      predictionColumn,
      model.getLabelCol,
      "",
      objectiveHistory)
    model.setSummary(Some(summary))
  }
}
