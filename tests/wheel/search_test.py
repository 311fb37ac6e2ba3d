"""Searches that read the rows once, beside pyspark's own search of the same estimators: folds, metrics, models."""

import tempfile
import unittest
import uuid

import package_test  # noqa: F401  puts the wheel on the path

import dwell
from dwell.ml.classification import LogisticRegression
from dwell.ml.regression import LinearRegression
from dwell.ml.tuning import CrossValidator, TrainValidationSplit
from pyspark.ml import Pipeline, classification, tuning
from pyspark.ml.evaluation import BinaryClassificationEvaluator, RegressionEvaluator
from pyspark.ml.feature import StandardScaler, VectorAssembler
from pyspark.ml.tuning import CrossValidatorModel, ParamGridBuilder
from pyspark.sql import SparkSession


class SearchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
        cls.spark = dwell.configure(builder).getOrCreate()
        rows = cls.spark.range(200).selectExpr(
            "cast(hash(id) % 100 > 0 as double) label", "hash(id) % 100 / 50.0 + hash(id * 7) % 100 / 40.0 a", "id % 7 / 3.5 b", "cast(id % 2 as int) fold"
        )
        cls.rows = VectorAssembler(inputCols=["a", "b"], outputCol="features").transform(rows).coalesce(2).cache()
        cls.areas = BinaryClassificationEvaluator(numBins=0)

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()

    def maps(self, estimator):
        return ParamGridBuilder().addGrid(estimator.regParam, [0.3, 0.01]).build()

    def jobs(self, search):
        """How many jobs a search takes, and its model."""
        tracker = self.spark.sparkContext.statusTracker()
        group = str(uuid.uuid4())
        self.spark.sparkContext.setJobGroup(group, "search")
        model = search.fit(self.rows)
        return len(tracker.getJobIdsForGroup(group)), model

    def check(self, ours, theirs):
        self.assertEqual(type(ours), type(theirs))
        for own, spark in zip(ours.avgMetrics, theirs.avgMetrics):
            self.assertAlmostEqual(own, spark, delta=1e-6)
        for own, spark in zip(ours.stdMetrics, theirs.stdMetrics):
            self.assertAlmostEqual(own, spark, delta=1e-6)
        self.assertEqual(type(ours.bestModel), type(theirs.bestModel))

    def both(self, estimator, evaluator, maps, **params):
        params = dict(numFolds=2, seed=5, estimator=estimator, evaluator=evaluator, estimatorParamMaps=maps, **params)
        return [kind(**params) for kind in (CrossValidator, tuning.CrossValidator)]

    def test_folds_metrics_and_models_are_those_of_pyspark(self):
        estimator = LogisticRegression(tol=1e-9)
        jobs, models = zip(*map(self.jobs, self.both(estimator, self.areas, self.maps(estimator), collectSubModels=True)))
        self.check(*models)
        self.assertLess(jobs[0], jobs[1])
        for fold in range(2):
            for own, spark in zip(*(model.subModels[fold] for model in models)):
                self.assertLess(own.coefficients.squared_distance(spark.coefficients), 1e-8)
        told = dwell.report(models[0])
        self.assertEqual("native", told.solver)
        for one, mean, deviation in zip(told.search, models[0].avgMetrics, models[0].stdMetrics):
            self.assertAlmostEqual(one.metric, mean, delta=1e-12)
            self.assertAlmostEqual(one.deviation, deviation, delta=1e-12)
            self.assertEqual((len(one.seconds), len(one.rounds)), (2, 2))
        self.assertEqual(1, told.page.count("The search"))
        self.assertEqual(1, sum(one.is_best for one in told.search))
        with tempfile.TemporaryDirectory() as place:
            models[0].save(place + "/model")
            self.assertEqual(models[0].avgMetrics, CrossValidatorModel.load(place + "/model").avgMetrics)

    def test_folds_of_a_column_and_a_regression(self):
        estimator = LinearRegression(tol=1e-9, labelCol="a")
        searches = self.both(estimator, RegressionEvaluator(labelCol="a"), self.maps(estimator), foldCol="fold")
        self.check(*(search.fit(self.rows) for search in searches))

    def test_a_pipeline_and_one_that_needs_a_fit(self):
        estimator = LogisticRegression(tol=1e-9, featuresCol="some")
        assembler = VectorAssembler(inputCols=["a", "b"], outputCol="some")
        scaler = StandardScaler(inputCol="features", outputCol="some")
        for first in assembler, scaler:
            searches = self.both(Pipeline(stages=[first, estimator]), self.areas, self.maps(estimator))
            jobs, models = zip(*map(self.jobs, searches))
            self.check(*models)
            self.assertLess(jobs[0], jobs[1])
            often = "once for each training set" if first is scaler else "once"
            self.assertIn(f"rows are read {often}", dwell.report(models[0]).text)

    def test_one_split(self):
        estimator = LogisticRegression(tol=1e-9)
        params = dict(seed=5, estimator=estimator, evaluator=self.areas, estimatorParamMaps=self.maps(estimator), trainRatio=0.6)
        ours, theirs = (kind(**params).fit(self.rows) for kind in (TrainValidationSplit, tuning.TrainValidationSplit))
        for own, spark in zip(ours.validationMetrics, theirs.validationMetrics):
            self.assertAlmostEqual(own, spark, delta=1e-6)

    def test_accelerated(self):
        estimator = classification.LogisticRegression(tol=1e-9)
        _, search = self.both(estimator, self.areas, self.maps(estimator))
        with dwell.accelerate():
            jobs, model = self.jobs(search)
        self.assertEqual("native", dwell.report(model.bestModel).solver)
        after, stock = self.jobs(search)
        self.assertLess(jobs, after)
        for own, spark in zip(model.avgMetrics, stock.avgMetrics):
            self.assertAlmostEqual(own, spark, delta=1e-3)


if __name__ == "__main__":
    unittest.main()
