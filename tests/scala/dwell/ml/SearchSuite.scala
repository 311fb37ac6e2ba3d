package dwell.ml

import java.nio.file.Files

import scala.util.Random

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.ml.{Estimator, Model, Pipeline, PipelineModel}
import org.apache.spark.ml.classification.LogisticRegressionModel
import org.apache.spark.ml.evaluation.{BinaryClassificationEvaluator, Evaluator, MulticlassClassificationEvaluator, RegressionEvaluator}
import org.apache.spark.ml.feature.{PCA, SQLTransformer, StandardScaler, StandardScalerModel, VectorAssembler}
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.regression.LinearRegressionModel
import org.apache.spark.ml.tuning.{CrossValidator => SparkCrossValidator, CrossValidatorModel, ParamGridBuilder, TrainValidationSplit => SparkTrainValidationSplit}
import org.apache.spark.mllib.util.MLUtils
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, udf}

import dwell.{Listened, SparkSuite}
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression
import dwell.ml.tuning.{CrossValidator, TrainValidationSplit}
import dwell.record.{FitEnded, FitStarted, RoundCompleted}
import dwell.report.FitReport

/** Searches that read the rows once: Spark's folds, Spark's metrics of the same models, and the models of Spark's own search. */
class SearchSuite extends SparkSuite {

  private val Folds = 2
  private val Seed = 11L

  /** Sums of the same numbers in another order. */
  private val SameSums = 1e-9

  private lazy val rows: DataFrame = {
    val random = new Random(7)
    val data = Seq.tabulate(300) { i =>
      val x = Array.fill(6)(if (random.nextDouble() < 0.6) math.rint(random.nextGaussian() * 8) / 8 else 0.0)
      val margin = x(0) - 2 * x(1) + 0.5 * x(2) + random.nextGaussian()
      val features = if (i % 2 == 0) Vectors.dense(x) else Vectors.dense(x).toSparse
      val own = (x(3) * 2).toInt.abs.min(2).toDouble
      (margin, if (margin > 0) 1.0 else 0.0, own, 0.5 + i % 3, i % 2, features, x(0), x(1))
    }
    val names = Seq("y", "label", "class", "w", "fold", "features", "a", "b")
    spark.createDataFrame(data).toDF(names: _*).repartition(3, col("y")).localCheckpoint()
  }

  private def logistic: LogisticRegression = new LogisticRegression("lr").setTol(1e-9).setMaxIter(200)

  private def penalties(estimator: LogisticRegression): Array[ParamMap] =
    new ParamGridBuilder().addGrid(estimator.regParam, Array(0.3, 0.01)).build()

  private def set[V <: SparkCrossValidator](
      search: V,
      estimator: Estimator[_],
      evaluator: Evaluator,
      maps: Array[ParamMap]): V = {
    search.setEstimator(estimator).setEvaluator(evaluator).setEstimatorParamMaps(maps).setNumFolds(Folds).setSeed(Seed)
    search
  }

  /** The rows that each fold leaves out, as Spark's own search makes them. */
  private def heldOut(search: SparkCrossValidator, data: DataFrame): Seq[DataFrame] = {
    val folds =
      if (search.getFoldCol.isEmpty) MLUtils.kFold(data.rdd, Folds, Seed)
      else MLUtils.kFold(data, Folds, search.getFoldCol)
    val schema = if (search.getFoldCol.isEmpty) data.schema else data.drop(search.getFoldCol).schema
    folds.toSeq.map { case (_, left) => spark.createDataFrame(left, schema) }
  }

  /** Searches, and compares the metrics with those that Spark's evaluator gives the same models on Spark's folds. */
  private def check(
      search: CrossValidator,
      tolerance: Double = SameSums,
      data: DataFrame = rows,
      times: Int = Folds): CrossValidatorModel = {
    val (model, jobs) = {
      var found: CrossValidatorModel = null
      val jobs = Listened.jobs(sc) { found = search.setCollectSubModels(true).fit(data) }
      (found, jobs)
    }
    val frames = heldOut(search, data)
    val evaluator = search.getEvaluator
    search.getEstimatorParamMaps.indices.foreach { map =>
      val each = frames.indices.map(f => evaluator.evaluate(model.subModels(f)(map).transform(frames(f))))
      val (own, spark) = (model.avgMetrics(map), each.sum / times)
      assert(math.abs(own - spark) <= tolerance * math.max(1.0, math.abs(spark)), s"$evaluator of map $map, $jobs jobs")
    }
    val numbered = model.avgMetrics.zipWithIndex
    val best = if (evaluator.isLargerBetter) numbered.maxBy(_._1)._2 else numbered.minBy(_._1)._2
    assert(
      coefficients(model.bestModel) == coefficients(
        search.getEstimator.fit(data, search.getEstimatorParamMaps(best)).asInstanceOf[Model[_]]))
    model
  }

  /** Rounded, since a fit that starts elsewhere ends elsewhere within its tolerance. */
  private def coefficients(model: Model[_]): Seq[Double] = {
    val own = model match {
      case m: LogisticRegressionModel => m.coefficientMatrix.toArray
      case m: org.apache.spark.ml.classification.LinearSVCModel => m.coefficients.toArray
      case m: LinearRegressionModel => m.coefficients.toArray
      case m: PipelineModel => coefficients(m.stages.last.asInstanceOf[Model[_]]).toArray
    }
    own.toSeq.map(c => math.rint(c * 100) / 100)
  }

  test("areas under curves are Spark's") {
    val estimator = logistic
    for (metric <- Seq("areaUnderROC", "areaUnderPR"); bins <- Seq(0, 20)) {
      val evaluator = new BinaryClassificationEvaluator().setMetricName(metric).setNumBins(bins)
      // Spark groups scores in partitions of its own.
      check(
        set(new CrossValidator("cv"), estimator, evaluator, penalties(estimator)),
        if (bins == 0) SameSums else 0.02)
    }
  }

  private val MetricsOfClasses = Seq(
    "f1",
    "accuracy",
    "weightedPrecision",
    "weightedRecall",
    "weightedTruePositiveRate",
    "weightedFalsePositiveRate",
    "weightedFMeasure",
    "truePositiveRateByLabel",
    "falsePositiveRateByLabel",
    "precisionByLabel",
    "recallByLabel",
    "fMeasureByLabel",
    "hammingLoss",
    "logLoss")

  test("metrics of classes are Spark's") {
    val estimator = logistic.setLabelCol("class").setWeightCol("w")
    for (metric <- MetricsOfClasses) {
      val evaluator = new MulticlassClassificationEvaluator()
        .setMetricName(metric)
        .setLabelCol("class")
        .setWeightCol("w")
        .setMetricLabel(1.0)
        .setBeta(0.5)
      check(set(new CrossValidator("cv"), estimator, evaluator, penalties(estimator)))
    }
  }

  test("metrics of regressions are Spark's, with weights and without") {
    for (weight <- Seq("", "w"); metric <- Seq("rmse", "mse", "r2", "mae", "var"); origin <- Seq(false, true)) {
      val estimator = new LinearRegression("lin").setLabelCol("y").setTol(1e-10)
      val evaluator = new RegressionEvaluator().setLabelCol("y").setMetricName(metric).setThroughOrigin(origin)
      if (weight.nonEmpty) {
        estimator.setWeightCol(weight)
        evaluator.setWeightCol(weight)
      }
      check(
        set(
          new CrossValidator("cv"),
          estimator,
          evaluator,
          new ParamGridBuilder().addGrid(estimator.regParam, Array(0.0, 0.2)).build()))
    }
  }

  test("the hinge, and thresholds in the grid") {
    val svc = new LinearSVC("svc").setWeightCol("w").setTol(1e-6).setMaxIter(300)
    val penalties = new ParamGridBuilder().addGrid(svc.regParam, Array(0.1, 1.0)).build()
    check(
      set(
        new CrossValidator("cv"),
        svc,
        new BinaryClassificationEvaluator().setWeightCol("w").setNumBins(0),
        penalties))
    val estimator = logistic
    val thresholds = new ParamGridBuilder().addGrid(estimator.threshold, Array(0.3, 0.8)).build()
    check(
      set(
        new CrossValidator("cv"),
        estimator,
        new MulticlassClassificationEvaluator().setMetricName("accuracy"),
        thresholds))
  }

  test("an evaluator that reads other columns than the fit: Spark's evaluator") {
    val estimator = logistic.setWeightCol("w")
    check(
      set(new CrossValidator("cv"), estimator, new BinaryClassificationEvaluator().setNumBins(0), penalties(estimator)))
  }

  test("folds that a column names") {
    val estimator = logistic
    val search =
      set(new CrossValidator("cv"), estimator, new BinaryClassificationEvaluator().setNumBins(0), penalties(estimator))
    check(search.setFoldCol("fold"))
    val thrown = intercept[Exception](search.fit(rows.withColumn("fold", col("fold") * 2)))
    val said = Iterator.iterate[Throwable](thrown)(_.getCause).takeWhile(_ != null).map(_.getMessage).mkString
    assert(said.contains("Fold number must be in range [0, 2)"))
  }

  test("the models are those of Spark's own search, and Spark's class reads them back") {
    val estimator = logistic
    val evaluator = new BinaryClassificationEvaluator().setNumBins(0)
    val maps = new ParamGridBuilder()
      .addGrid(estimator.regParam, Array(0.3, 0.01))
      .addGrid(estimator.elasticNetParam, Array(0.0, 0.5))
      .build()
    val ours = set(new CrossValidator("cv"), estimator, evaluator, maps).setCollectSubModels(true).fit(rows)
    val theirs = set(new SparkCrossValidator("cv"), estimator, evaluator, maps).setCollectSubModels(true).fit(rows)
    for (fold <- 0 until Folds; map <- maps.indices) {
      assert(
        coefficients(ours.subModels(fold)(map)) == coefficients(theirs.subModels(fold)(map)),
        s"fold $fold, map $map")
    }
    assert(ours.getNumFolds == Folds && ours.getSeed == Seed && ours.uid == "cv" && ours.hasParent)
    val place = Files.createTempDirectory("search").resolve("model").toString
    ours.save(place)
    val read = CrossValidatorModel.load(place)
    assert(
      read.avgMetrics.sameElements(ours.avgMetrics) && coefficients(read.bestModel) == coefficients(ours.bestModel))
  }

  test("a pipeline whose first stages need no fit") {
    val estimator = logistic.setFeaturesCol("some")
    val assembler = new VectorAssembler().setInputCols(Array("a", "b")).setOutputCol("some")
    val pipeline = new Pipeline("p").setStages(Array(assembler, estimator))
    val evaluator = new BinaryClassificationEvaluator().setNumBins(0)
    val model = check(set(new CrossValidator("cv"), pipeline, evaluator, penalties(estimator)))
    val best = model.bestModel.asInstanceOf[PipelineModel]
    assert(best.uid == "p" && best.stages.length == 2 && best.parent == pipeline)
  }

  test("stages that are fitted to each training set: its rows are read once for all maps") {
    val scaler = new StandardScaler().setInputCol("features").setOutputCol("scaled").setWithMean(true)
    val components = new PCA().setInputCol("scaled").setOutputCol("some").setK(4)
    val estimator = logistic.setFeaturesCol("some")
    val pipeline = new Pipeline("p").setStages(Array(scaler, components, estimator))
    val evaluator = new BinaryClassificationEvaluator().setNumBins(0)
    val searches = Seq(new CrossValidator("cv"), new SparkCrossValidator("cv"))
      .map(set(_, pipeline, evaluator, penalties(estimator)).setCollectSubModels(true))
    val Seq(ours, theirs) = searches.map(_.fit(rows))
    for (fold <- 0 until Folds; map <- ours.avgMetrics.indices) {
      val Seq(own, spark) = Seq(ours, theirs).map(_.subModels(fold)(map).asInstanceOf[PipelineModel])
      assert(
        own.stages.head.asInstanceOf[StandardScalerModel].mean == spark.stages.head
          .asInstanceOf[StandardScalerModel]
          .mean)
      assert(coefficients(own) == coefficients(spark), s"fold $fold, map $map")
      assert(math.abs(ours.avgMetrics(map) - theirs.avgMetrics(map)) <= 1e-3)
    }
    check(set(new CrossValidator("cv"), pipeline, evaluator, penalties(estimator)))
    assert(coefficients(ours.bestModel) == coefficients(theirs.bestModel))
    val search = FitReport.of(ours.bestModel.asInstanceOf[PipelineModel].stages.last.asInstanceOf[Model[_]]).search.get
    assert(search.how == "rows are read once for each training set, as StandardScaler and PCA need a fit to it")
    assert(sc.getPersistentRDDs.values.forall(_.name != "lr: rows as read"))
  }

  test("a stage that drops rows: Spark's own search") {
    val estimator = logistic.setFeaturesCol("some")
    val dropping = new SQLTransformer().setStatement("SELECT * FROM __THIS__ WHERE a > -1")
    val assembler = new VectorAssembler().setInputCols(Array("a", "b")).setOutputCol("some")
    val pipeline = new Pipeline("p").setStages(Array(dropping, assembler, estimator))
    check(
      set(new CrossValidator("cv"), pipeline, new BinaryClassificationEvaluator().setNumBins(0), penalties(estimator)))
  }

  test("one split") {
    val estimator = logistic
    val evaluator = new BinaryClassificationEvaluator().setNumBins(0)
    val models = Seq(new TrainValidationSplit("tvs"), new SparkTrainValidationSplit("tvs")).map { search =>
      search
        .setEstimator(estimator)
        .setEvaluator(evaluator)
        .setEstimatorParamMaps(penalties(estimator))
        .setTrainRatio(0.7)
        .setSeed(3L)
        .setCollectSubModels(true)
        .fit(rows)
    }
    val Array(_, left) = rows.randomSplit(Array(0.7, 0.3), 3L)
    penalties(estimator).indices.foreach { map =>
      val own = models.head.subModels(map)
      assert(math.abs(models.head.validationMetrics(map) - evaluator.evaluate(own.transform(left))) < SameSums)
      assert(coefficients(own) == coefficients(models(1).subModels(map)))
    }
  }

  test("rows are read once, and nothing stays cached") {
    val estimator = logistic
    val read = sc.longAccumulator("rows")
    val counted = udf { (x: Double) => read.add(1); x }
    val source = rows.withColumn("label", counted.asNondeterministic()(col("label")))
    val before = sc.getPersistentRDDs.keySet
    set(new CrossValidator("cv"), estimator, new BinaryClassificationEvaluator(), penalties(estimator)).fit(source)
    // One of them is read before the others, for the length of its vector.
    assert(read.value <= 301L)
    assert(sc.getPersistentRDDs.keySet.forall(before.contains))
  }

  private def regression(maps: Int): CrossValidator = {
    val estimator = new LinearRegression("lin").setLabelCol("y")
    val grid = new ParamGridBuilder().addGrid(estimator.regParam, Array.tabulate(maps)(i => 0.5 / (i + 1))).build()
    set(new CrossValidator("cv"), estimator, new RegressionEvaluator().setLabelCol("y"), grid)
  }

  test("squared errors: one pass over each fold serves all models, so that more maps take no more jobs") {
    val jobs = Seq(1, 7).map(maps => Listened.jobs(sc)(regression(maps).fit(rows)))
    assert(jobs.head == jobs(1))
  }

  test("squared errors where folds differ: a feature of one fold alone, and one with another mean in each fold") {
    val differ = udf { (x: Vector, fold: Int) =>
      Vectors.dense(x.toArray ++ Array(fold * x(0), 1000.0 * fold + x(1), 4.0 + fold * x(2)))
    }
    val data = rows.withColumn("features", differ(col("features"), col("fold")))
    for (far <- Seq(false, true); mixture <- Seq(0.0, 0.5)) {
      val own =
        if (far) data
        else
          data.withColumn(
            "features",
            udf((x: Vector) => Vectors.dense(x.toArray.patch(7, Nil, 1))).apply(col("features")))
      val estimator = new LinearRegression("lin").setLabelCol("y").setElasticNetParam(mixture)
      val grid = new ParamGridBuilder().addGrid(estimator.regParam, Array(0.1, 0.01)).build()
      val search = set(new CrossValidator("cv"), estimator, new RegressionEvaluator().setLabelCol("y"), grid)
      val model = search.setFoldCol("fold").setCollectSubModels(true).fit(own)
      for (fold <- 0 until Folds; map <- grid.indices) {
        val alone = estimator.fit(own.filter(col("fold") =!= fold), grid(map))
        val found = model.subModels(fold)(map).asInstanceOf[LinearRegressionModel]
        val distance = math.sqrt(Vectors.sqdist(found.coefficients, alone.coefficients))
        assert(distance <= 1e-6, s"far $far, mixture $mixture, fold $fold, map $map: ${found.coefficients}")
      }
    }
  }

  test("classes where folds differ: a start from another training set leaves nothing of its features behind") {
    val differ = udf((x: Vector, fold: Int) => Vectors.dense(x.toArray ++ Array(fold * x(0), 4.0 + fold * x(2))))
    val data = rows.withColumn("features", differ(col("features"), col("fold")))
    for (algorithm <- Seq("newton", "l-bfgs"); mixture <- Seq(0.0, 0.5)) {
      val estimator = logistic.setAlgorithm(algorithm).setElasticNetParam(mixture)
      val search = set(
        new CrossValidator("cv"),
        estimator,
        new BinaryClassificationEvaluator().setNumBins(0),
        penalties(estimator))
      val model = search.setFoldCol("fold").setCollectSubModels(true).fit(data)
      for (fold <- 0 until Folds; map <- model.avgMetrics.indices) {
        val alone = estimator.fit(data.filter(col("fold") =!= fold), penalties(estimator)(map))
        val distance = Vectors.sqdist(
          model.subModels(fold)(map).asInstanceOf[LogisticRegressionModel].coefficients,
          alone.coefficients)
        assert(distance <= 1e-6, s"$algorithm, mixture $mixture, fold $fold, map $map")
      }
    }
  }

  test("the report of the best model tells of the search") {
    val model = regression(3).setCollectSubModels(true).fit(rows)
    val report = FitReport.of(model.bestModel)
    val search = report.search.get
    assert(search.maps.map(_.metric).zip(model.avgMetrics).forall { case (a, b) => math.abs(a - b) <= SameSums * b })
    val best = search.maps.indexWhere(_.isBest)
    assert(search.maps(best).metric == search.maps.map(_.metric).min && search.maps.count(_.isBest) == 1)
    assert(
      search.maps(best).params == Seq("regParam" -> model.bestModel.asInstanceOf[LinearRegressionModel].getRegParam))
    val frames = heldOut(regression(3), rows)
    val each = frames.indices.map(f => model.getEvaluator.evaluate(model.subModels(f)(best).transform(frames(f))))
    assert(math.abs(search.maps(best).deviation - math.abs(each(0) - each(1)) / 2.0) <= SameSums)
    assert(search.sets == Folds && search.maps.forall(map => map.seconds.size == Folds && map.rounds.forall(_ > 0)))
    assert(search.reading > 0.0 && search.seconds > search.reading + search.fits + search.evaluation.sum - 1e-3)
    assert(report.toText.linesIterator.count(_.contains("regParam=")) >= 3 && report.toText.contains("(best)"))
    val told = new ObjectMapper().readTree(report.toJson).get("search").get("maps")
    assert((0 until 3).forall(i => told.get(i).get("metric").asDouble == search.maps(i).metric))
    assert(report.toHtml.contains("The search") && report.toHtml.split("class=\"spread\"").length == 4)
  }

  test("listeners hear how many fits are done") {
    val heard = scala.collection.mutable.ArrayBuffer.empty[Any]
    val listener = new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = heard.synchronized { heard += event }
    }
    Listened.by(sc, listener)(regression(3).fit(rows))
    assert(heard.collect { case FitStarted("cv", _, fits, unit) => (fits, unit) } == Seq((Folds * 3 + 1, "fit")))
    assert(heard.collect { case RoundCompleted("cv", record) => record.round } == (1 to Folds * 3 + 1))
    assert(heard.count(_ == FitEnded("cv")) == 1)
  }

  test("a row that no fit takes fails as in a fit") {
    val estimator = logistic
    val bad = rows.withColumn("label", udf((x: Double) => if (x > 3.0) -1.0 else x).apply(col("y")))
    val search = set(new CrossValidator("cv"), estimator, new BinaryClassificationEvaluator(), penalties(estimator))
    def thrownBy(fit: => Any): Exception = intercept[Exception](fit)
    assert(thrownBy(search.fit(bad)).getClass == thrownBy(estimator.fit(bad)).getClass)
  }
}
