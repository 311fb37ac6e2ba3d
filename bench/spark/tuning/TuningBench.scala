package dwell.bench.tuning

import org.apache.spark.ml.{Estimator, Pipeline}
import org.apache.spark.ml.classification.{LinearSVC => SparkLinearSVC, LogisticRegression => SparkLogisticRegression}
import org.apache.spark.ml.evaluation.{BinaryClassificationEvaluator, Evaluator, MulticlassClassificationEvaluator, RegressionEvaluator}
import org.apache.spark.ml.feature.StandardScaler
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression}
import org.apache.spark.ml.tuning.{CrossValidator => SparkCrossValidator}
import org.apache.spark.sql.DataFrame

import dwell.bench.{Bench, BenchData, NamedArguments}
import dwell.bench.anatomy.DataTable
import dwell.bench.grid.GridRows
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression
import dwell.ml.tuning.CrossValidator

/**
 * Grid searches by cross-validation: ours, Spark's search of our estimators, and Spark's of its own. Seconds of the whole `fit`, folds and
 * evaluation included, on the same cluster and the same data, in turn, with default `tol` and `maxIter`. The folds are the same;
 * the metrics are compared.
 *
 * Arguments after those of [[Bench]]: `rows=flights,dense-28`, `fits=logistic,linear`, `systems=Dwell` (beginnings of names), and
 * `flights=FILE`, see [[NamedArguments]].
 */
object TuningBench {

  private val Penalties = Array(0.1, 0.01, 0.001)
  private val Mixtures = Array(0.0, 0.5)

  /** Ten penalties, from strong to weak. */
  private val Decades = Array.tabulate(10)(i => math.pow(10.0, -i / 3.0))

  /** @param label the column of the label */
  private final case class Fit(
      name: String,
      label: String,
      ours: () => Estimator[_],
      theirs: () => Estimator[_],
      evaluator: Evaluator,
      mixes: Boolean = true)

  private val fits = Seq(
    Fit(
      "logistic",
      "class",
      () => new LogisticRegression,
      () => new SparkLogisticRegression,
      new BinaryClassificationEvaluator),
    Fit("linear", "label", () => new LinearRegression, () => new SparkLinearRegression, new RegressionEvaluator),
    Fit(
      "svc",
      "class",
      () => new LinearSVC,
      () => new SparkLinearSVC,
      new BinaryClassificationEvaluator,
      mixes = false),
    Fit(
      "ten",
      GridRows.Ten,
      () => new LogisticRegression,
      () => new SparkLogisticRegression,
      new MulticlassClassificationEvaluator))

  private final case class System(name: String, isOurs: Boolean, search: () => SparkCrossValidator)

  private val Ours = System("Dwell", isOurs = true, () => new CrossValidator)

  private val systems = Seq(
    Ours,
    System("Dwell's fits, Spark's search", isOurs = true, () => new SparkCrossValidator),
    System("Spark", isOurs = false, () => new SparkCrossValidator))

  /** @param isScaled whether a scaler, which is fitted to each training set, comes before the estimator */
  private final case class Case(
      rows: String,
      fit: String,
      folds: Int,
      isPath: Boolean = false,
      isCached: Boolean = true,
      isScaled: Boolean = false)

  private val cases = Seq(
    Case("flights", "logistic", 3),
    Case("flights", "logistic", 3, isCached = false),
    Case("flights", "linear", 3),
    Case("flights", "svc", 3),
    Case("flights", "logistic", 3, isPath = true),
    Case("flights", "logistic", 3, isScaled = true),
    Case("dense-28", "logistic", 5),
    Case("dense-28", "linear", 5),
    Case("hashed", "logistic", 3),
    Case("packages", "ten", 3))

  def main(args: Array[String]): Unit = {
    val (own, others) = args.splitAt(Bench.Arguments)
    val asked = new NamedArguments(others.toSeq)
    Bench.run("tuning bench", own) { bench =>
      val chosen = asked.chosen("rows", cases.map(_.rows).distinct)(identity)
      val wanted = asked.chosen("fits", cases.map(_.fit).distinct)(identity)
      for (rows <- chosen; source <- read(bench, asked, rows); isCached <- Seq(true, false)) {
        val own = cases.filter(c => c.rows == rows && c.isCached == isCached && wanted.contains(c.fit))
        if (own.nonEmpty) {
          val data = if (isCached) BenchData.cached(source) else source
          own.foreach(c => run(bench, c, data, systems.filter(s => asked.wants(s.name))))
          data.unpersist(blocking = true)
        }
      }
    }
  }

  private def read(bench: Bench, asked: NamedArguments, rows: String): Option[DataFrame] = rows match {
    case "flights" =>
      asked.list("flights").map(_.head).map { file =>
        val flights = bench.spark.read.format("libsvm").option("numFeatures", "149").load(file)
        flights.withColumn("class", flights("label"))
      }
    case name => DataTable.all.find(_.name == name).get.make(bench).map(GridRows.withAllColumns)
  }

  private def run(bench: Bench, c: Case, data: DataFrame, systems: Seq[System]): Unit = {
    val fit = fits.find(_.name == c.fit).get
    val about =
      s"${c.rows}, ${c.fit}, ${c.folds} folds, ${if (c.isPath) "10 penalties" else "6 maps"}${if (c.isCached) ""
        else ", not cached"}${if (c.isScaled) ", scaled" else ""}"
    println(s"\n== $about: ${data.count()} rows")
    // Compilers and caches are warm for all of them.
    val some = data.sample(0.02, 1L).cache()
    systems.foreach(system => validator(c, fit, system).fit(some))
    some.unpersist()
    val runs = for (repetition <- 0 until bench.repetitions; system <- systems) yield {
      val done = Bench.timed(validator(c, fit, system).fit(data))
      println(
        f"${system.name}%-30s ${done.seconds}%.2f s, metrics ${done.result.avgMetrics.map(m => f"$m%.6f").mkString(" ")}")
      (system, done.seconds, done.result.avgMetrics)
    }
    val spark = runs.collect { case (s, _, metrics) if s.name == "Spark" => metrics }.lastOption
    // One fit of ours, beside which the whole search stands.
    val one = (0 until bench.repetitions).map(_ => Bench.timed(validator(c, fit, Ours).getEstimator.fit(data)).seconds)
    println(f"one fit of Dwell${" " * 14} ${Bench.median(one)}%.2f s")
    systems.foreach { system =>
      val (seconds, metrics) = runs.collect { case (s, t, m) if s == system => (t, m) }.unzip
      bench.add(
        "search" -> about,
        "system" -> system.name,
        "rows" -> data.count(),
        "folds" -> c.folds,
        "maps" -> metrics.last.length,
        "seconds" -> seconds,
        "secondsOfOneFit" -> one,
        "metrics" -> metrics.last.toSeq,
        "fromSpark" -> spark.map(_.zip(metrics.last).map { case (a, b) => math.abs(a - b) }.max))
    }
  }

  private def validator(c: Case, fit: Fit, system: System): SparkCrossValidator = {
    val estimator: Estimator[_] = if (system.isOurs) fit.ours() else fit.theirs()
    def param[T](name: String) = estimator.getParam(name).asInstanceOf[org.apache.spark.ml.param.Param[T]]
    estimator.set(param[String]("labelCol"), fit.label)
    // In one order for all estimators.
    val penalties = if (!fit.mixes) Decades.take(6) else if (c.isPath) Decades else Penalties
    val mixtures = if (c.isPath || !fit.mixes) Array(0.0) else Mixtures
    val maps = for (penalty <- penalties; mixture <- mixtures) yield {
      val map = ParamMap(param[Double]("regParam") -> penalty)
      if (fit.mixes) map.put(param[Double]("elasticNetParam"), mixture) else map
    }
    val scaled = "scaled"
    if (c.isScaled) estimator.set(param[String]("featuresCol"), scaled)
    val whole: Estimator[_] =
      if (!c.isScaled) estimator
      else new Pipeline().setStages(Array(new StandardScaler().setInputCol("features").setOutputCol(scaled), estimator))
    val evaluator = fit.evaluator.copy(ParamMap.empty)
    evaluator.set(evaluator.getParam("labelCol").asInstanceOf[org.apache.spark.ml.param.Param[String]], fit.label)
    system
      .search()
      .setEstimator(whole)
      .setEvaluator(evaluator)
      .setEstimatorParamMaps(maps)
      .setNumFolds(c.folds)
      .setSeed(1L)
  }
}
