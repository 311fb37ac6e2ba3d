package dwell.ml.tuning

import org.apache.spark.SparkContext
import org.apache.spark.ml.{Estimator, Model}
import org.apache.spark.ml.classification.ClassificationModel
import org.apache.spark.ml.evaluation.Evaluator
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.tuning.FoldBridge
import org.apache.spark.sql.Dataset

import dwell.fit.ChangedInput
import dwell.ml.training.FitLog
import dwell.ml.tuning.metric.{EvaluatorMetric, Metric}
import dwell.record.{SearchFacts, TriedMap}
import dwell.report.FitReport
import dwell.spark.{Answers, NativeLibrary, Sent, TaskFailure}

/**
 * A search for the best map of Params. Fits on a training set share its rows and sums and start from one another, and the
 * rows that it leaves out are predicted by all of its models in one job. It holds the rows until it is closed.
 *
 * @param uid
 *   of the validator
 * @param maps
 *   of the estimator's Params
 * @param started
 *   when the search began
 */
final class Search private[tuning] (
    uid: String,
    searched: Searched[_],
    evaluator: Evaluator,
    maps: Seq[ParamMap],
    rows: SearchRows,
    split: Split,
    sc: SparkContext,
    keepsModels: Boolean,
    started: Long)
    extends AutoCloseable {
  import Search._

  private val progress = new SearchProgress(sc, uid, split.sets.size * maps.size + 1)

  private val found: Seq[OfSet] =
    try split.sets.indices.map(set => rows.of(set)(tried(set, _)))
    catch {
      case e: Throwable =>
        close()
        throw e
    }

  private def tried(set: Int, rows: SetRows): OfSet = {
    val fitted = searched.fitted(maps, rows.training, Some(rows.trainer))(progress.next())
    val evaluating = System.nanoTime()
    val metrics = evaluated(set, rows, fitted)
    val reports = fitted.map(FitReport.find)
    OfSet(
      metrics,
      if (keepsModels) fitted.map(searched.whole(rows.stages, _)).toArray else Array.empty,
      since(evaluating),
      reports.map(_.fold(0.0)(_.totalSeconds)),
      reports.map(_.flatMap(_.rounds.lastOption).fold(0)(_.round)))
  }

  /** By training set and map. */
  def metrics: Array[Array[Double]] = found.map(_.metrics).toArray

  /** By training set and map, if they are kept. */
  def models: Array[Array[Model[_]]] = found.map(_.models).toArray

  /** The model of the best map on all rows. Its report tells of the search. */
  def onAllRows(best: Int): Model[_] = {
    val found = rows.onAllRows(maps(best))(progress.next())
    FitReport.find(found.model).foreach(report => FitReport.attach(found.model, report.chosenBy(facts(best))))
    searched.whole(found.stages, found.model)
  }

  private def facts(best: Int): SearchFacts = {
    val names = named(maps)
    val tried = maps.indices.map { map =>
      val metrics = found.map(_.metrics(map))
      val mean = metrics.sum / metrics.size
      val deviation = math.sqrt(metrics.map(metric => (metric - mean) * (metric - mean)).sum / metrics.size)
      TriedMap(
        names(map),
        mean,
        if (metrics.size > 1) deviation else Double.NaN,
        map == best,
        found.map(_.seconds(map)),
        found.map(_.rounds(map)))
    }
    SearchFacts(tried, rows.how, rows.seconds, found.map(_.evaluation), since(started))
  }

  /** Releases the rows. */
  override def close(): Unit =
    try rows.close()
    finally progress.close()

  /** The metric of each model on the rows that the training set leaves out. */
  private def evaluated(set: Int, own: SetRows, models: Seq[Model[_]]): Array[Double] = {
    val scores = own.rows.heldOutRows(own.number)
    val metrics =
      models.map(EvaluatorMetric.of(evaluator, _, searched.columns)).map(_.filterNot(_.isOfEach && scores > MostScores))
    val natively = models.indices.filter(metrics(_).isDefined)
    val values = natively
      .grouped(math.min(atATime(models.head, own.rows.vectorLength), math.max(1L, 2 * MostScores / scores).toInt))
      .flatMap(some => some.zip(tallied(own, some.map(i => (metrics(i).get, models(i))))))
      .toMap
    lazy val heldOut = split.heldOut(set).cache()
    try
      models.indices.map { i =>
        values
          .get(i)
          .flatten
          .getOrElse(evaluator.evaluate(searched.whole(own.stages, models(i)).transform(heldOut, maps(i))))
      }.toArray
    finally if (values.size < models.size || values.values.exists(_.isEmpty)) heldOut.unpersist()
  }

  private def tallied(own: SetRows, models: Seq[(Metric, Model[_])]): Seq[Option[Double]] = {
    val heldOut = own.rows.heldOut(own.number)
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
   * What has come of a training set.
   *
   * @param models
   *   if they are kept
   * @param evaluation
   *   seconds of all metrics
   * @param seconds
   *   of each fit
   * @param rounds
   *   of each fit
   */
  private final case class OfSet(
      metrics: Array[Double],
      models: Array[Model[_]],
      evaluation: Double,
      seconds: Seq[Double],
      rounds: Seq[Int])

  /** For each map the values by the names of their Params, with the uid of its stage before a name that several stages have. */
  private def named(maps: Seq[ParamMap]): IndexedSeq[Seq[(String, Any)]] = {
    val stages = maps.flatMap(_.toSeq).map(_.param).groupBy(_.name).map { case (name, all) =>
      name -> all.map(_.parent).distinct.size
    }
    maps.toIndexedSeq.map(_.toSeq.sortBy(_.param.name).map { pair =>
      val name = if (stages(pair.param.name) == 1) pair.param.name else s"${pair.param.parent}.${pair.param.name}"
      name -> FitLog.plain(pair.value)
    })
  }

  private def since(nanos: Long): Double = (System.nanoTime() - nanos) * 1e-9

  /**
   * Fits and evaluates all maps on all training sets.
   *
   * @param uid
   *   of the validator
   * @param maps
   *   of Params of the estimator or of a stage
   * @param keepsModels
   *   whether all models are asked for; otherwise they are free once they are evaluated
   * @return
   *   None where the rows cannot be read once, or Spark's own search has to say what is wrong with them
   */
  def open(
      uid: String,
      estimator: Estimator[_],
      evaluator: Evaluator,
      maps: Seq[ParamMap],
      dataset: Dataset[_],
      keepsModels: Boolean)(split: => Split): Option[Search] =
    if (NativeLibrary.missing.isDefined) None
    else
      for {
        searched <- Searched.of(estimator, maps)
        search <- ChangedInput.outlived(searched.uid)(of(uid, searched, evaluator, maps, dataset, keepsModels, split))
      } yield search

  private def of(
      uid: String,
      searched: Searched[_],
      evaluator: Evaluator,
      maps: Seq[ParamMap],
      dataset: Dataset[_],
      keepsModels: Boolean,
      split: Split): Option[Search] = {
    val (sc, started) = (dataset.sparkSession.sparkContext, System.nanoTime())
    try
      SearchRows
        .of(searched, maps, dataset.toDF(), split)
        .map(new Search(uid, searched, evaluator, maps, _, split, sc, keepsModels, started))
    catch { case _: SearchRows.NotReadable => None }
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
