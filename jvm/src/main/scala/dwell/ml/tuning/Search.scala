package dwell.ml.tuning

import org.apache.spark.ml.{Estimator, Model}
import org.apache.spark.ml.classification.ClassificationModel
import org.apache.spark.ml.evaluation.Evaluator
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.tuning.FoldBridge
import org.apache.spark.sql.{DataFrame, Dataset}

import dwell.data.FoldedRows
import dwell.fit.ChangedInput
import dwell.spark.{Answers, NativeLibrary, Sent, TaskFailure}

/**
 * A search for the best map of Params. The rows are read once; fits on a training set share its sums and start from one another, and the
 * rows that it leaves out are predicted by all of its models in one job. It holds the rows until it is closed.
 *
 * @param maps
 *   of the estimator's Params
 * @param prepared
 *   the data that the linear estimator is fitted to
 */
final class Search private[tuning] (
    searched: Searched[_],
    evaluator: Evaluator,
    maps: Seq[ParamMap],
    prepared: DataFrame,
    rows: FoldedRows,
    split: Split,
    keepsModels: Boolean)
    extends AutoCloseable {
  import Search._

  private val found: Seq[(Array[Double], Seq[Model[_]])] = split.sets.indices.map { set =>
    val fitted = searched.fitted(maps, searched.prepared(split.training(set)), rows.training(set))
    (evaluated(set, fitted), if (keepsModels) fitted.map(searched.whole) else Seq.empty)
  }

  /** By training set and map. */
  def metrics: Array[Array[Double]] = found.map(_._1).toArray

  /** By training set and map, if they are kept. */
  def models: Array[Array[Model[_]]] = found.map(_._2.toArray).toArray

  /** The model of a map on all rows. */
  def onAllRows(map: Int): Model[_] =
    searched.whole(searched.fitted(Seq(maps(map)), prepared, rows.whole).head)

  /** Releases the rows. */
  override def close(): Unit = rows.unpersist()

  /** The metric of each model on the rows that the training set leaves out. */
  private def evaluated(set: Int, models: Seq[Model[_]]): Array[Double] = {
    val scores = rows.heldOutRows(set)
    val metrics =
      models.map(EvaluatorMetric.of(evaluator, _, searched.columns)).map(_.filterNot(_.isOfEach && scores > MostScores))
    val natively = models.indices.filter(metrics(_).isDefined)
    val values = natively
      .grouped(math.min(atATime(models.head, rows.vectorLength), math.max(1L, 2 * MostScores / scores).toInt))
      .flatMap(some => some.zip(tallied(set, some.map(i => (metrics(i).get, models(i))))))
      .toMap
    lazy val heldOut = split.heldOut(set).cache()
    try
      models.indices.map { i =>
        values.get(i).flatten.getOrElse(evaluator.evaluate(searched.whole(models(i)).transform(heldOut, maps(i))))
      }.toArray
    finally if (values.size < models.size || values.values.exists(_.isEmpty)) heldOut.unpersist()
  }

  private def tallied(set: Int, models: Seq[(Metric, Model[_])]): Seq[Option[Double]] = {
    val heldOut = rows.heldOut(set)
    val sent = Sent.of(heldOut.sparkContext, models.map { case (metric, model) => (metric, FoldBridge.alone(model)) })
    try
      TaskFailure.unwrapped {
        val parts = Answers.of(heldOut) { blocks =>
          val each = sent.value.map { case (metric, model) => (metric.tally(), metric.output.of(model)) }.toArray
          blocks.foreach(_.each { (features, label, weight) =>
            each.foreach { case (tally, output) => tally.add(output(features, label), label, weight) }
          })
          each.map(_._1.close())
        }
        models.indices.map(i => models(i)._1.value(parts.toSeq.map(_(i))))
      }
    finally sent.destroy(heldOut.sparkContext)
  }
}

private[tuning] object Search {

  /**
   * Fits and evaluates all maps on all training sets.
   *
   * @param maps
   *   of Params of the estimator or of a stage
   * @param keepsModels
   *   whether all models are asked for; otherwise they are free once they are evaluated
   * @return
   *   None where the rows cannot be read once, or Spark's own search has to say what is wrong with them
   */
  def open(
      estimator: Estimator[_],
      evaluator: Evaluator,
      maps: Seq[ParamMap],
      dataset: Dataset[_],
      keepsModels: Boolean)(split: => Split): Option[Search] =
    if (NativeLibrary.missing.isDefined) None
    else
      for {
        searched <- Searched.of(estimator, maps)
        search <- ChangedInput.outlived(searched.uid)(of(searched, evaluator, maps, dataset, keepsModels, split))
      } yield search

  private def of(
      searched: Searched[_],
      evaluator: Evaluator,
      maps: Seq[ParamMap],
      dataset: Dataset[_],
      keepsModels: Boolean,
      split: Split): Option[Search] = {
    val data = searched.prepared(dataset)
    searched.read(maps, data, split).map { rows =>
      try new Search(searched, evaluator, maps, data, rows, split, keepsModels)
      catch {
        case e: Throwable =>
          rows.unpersist()
          throw e
      }
    }
  }

  /** How many such models a task can have to predict with. */
  private def atATime(model: Model[_], numFeatures: Int): Int = {
    val outputs = model match {
      case classifier: ClassificationModel[_, _] => classifier.numClasses
      case _ => 1
    }
    math.max(1L, MostCoefficients / (numFeatures.toLong * outputs)).toInt
  }

  private val MostCoefficients = 1L << 24

  /** Of so many rows the driver takes the score of each; of more, Spark's evaluator sorts them on the executors. */
  private val MostScores = 1L << 21

  /** The number of the best metric: as in Spark, the first of several. */
  def best(evaluator: Evaluator, metrics: Array[Double]): Int = {
    val numbered = metrics.zipWithIndex
    (if (evaluator.isLargerBetter) numbered.maxBy(_._1) else numbered.minBy(_._1))._2
  }
}
