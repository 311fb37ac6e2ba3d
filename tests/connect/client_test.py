"""The package in a client of Spark Connect that has pyspark-client alone, with a server that has the jar."""

import io
import pathlib
import pickle
import re
import tempfile
import unittest

import server
import dwell
from dwell.ml.classification import LinearSVC, LogisticRegression, MultilayerPerceptronClassifier
from dwell.ml.clustering import LDA
from dwell.ml.regression import LinearRegression
from pyspark.ml import Pipeline, PipelineModel, classification, clustering, regression
from pyspark.ml.classification import OneVsRest
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.tuning import CrossValidator, CrossValidatorModel, ParamGridBuilder
from pyspark.sql import SparkSession

ESTIMATORS = [LogisticRegression, LinearSVC, MultilayerPerceptronClassifier, LinearRegression, LDA]
STOCK = [
    classification.LogisticRegression,
    classification.LinearSVC,
    classification.MultilayerPerceptronClassifier,
    regression.LinearRegression,
    clustering.LDA,
]
MODELS = [
    classification.LogisticRegressionModel,
    classification.LinearSVCModel,
    classification.MultilayerPerceptronClassificationModel,
    regression.LinearRegressionModel,
    clustering.LocalLDAModel,
]


#: Keywords of a short fit of the tests' data.
KEYWORDS = {"LDA": {"k": 2, "maxIter": 3}, "MultilayerPerceptronClassifier": {"layers": [3, 2, 2], "maxIter": 3}}


def made(kind):
    return kind(**KEYWORDS.get(kind.__name__, {"regParam": 0.01}))

#: A value of each Param of Dwell's that is not its default.
OWN = {
    "aggregation": "driver", "numWorkers": 1, "algorithm": "cocoa", "orientation": "primal", "localWork": "2.0", "stepSize": "0.5",
    "loss": "squaredHinge", "localBatch": 50, "topicEstimate": "mean",
}


def own(kind):
    """A value of each of these Params that `kind` has. Networks know no coordinate descent."""
    given = {name: OWN[name] for name in kind._own}
    return {**given, "algorithm": "ma-sgd"} if kind is MultilayerPerceptronClassifier else given


class ClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.url = server.shared()
        cls.scratch = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.spark = SparkSession.builder.remote(cls.url).getOrCreate()
        cls.addClassCleanup(cls.spark.stop)
        names = {"spark": cls.spark}
        exec(server.DATA, names)
        cls.data = names["data"]

    def path(self, name):
        return str(pathlib.Path(self.scratch, name))

    def test_fits_are_native_and_models_are_those_of_pyspark(self):
        for kind, model_class in zip(ESTIMATORS, MODELS):
            estimator = made(kind)
            model = estimator.fit(self.data)
            self.assertIs(type(model), model_class)
            self.assertEqual(model.uid, estimator.uid)
            told = dwell.report(model)
            self.assertEqual((told.solver, told.uid, told.estimator), ("native", model.uid, kind.__name__))
            self.assertEqual(model.transform(self.data).count(), 300)
        spark = classification.LogisticRegression(regParam=0.01, tol=1e-12).fit(self.data)
        ours = LogisticRegression(regParam=0.01, tol=1e-12).fit(self.data)
        self.assertLess(abs(spark.coefficients.toArray() - ours.coefficients.toArray()).max(), 1e-6)
        self.assertEqual(ours.summary.accuracy, spark.summary.accuracy)
        self.assertEqual(ours.summary.roc.count(), spark.summary.roc.count())

    def test_every_param_of_dwell_crosses(self):
        for kind in ESTIMATORS:
            asked = own(kind)
            # CoCoA wants a penalty.
            more = {**KEYWORDS.get(kind.__name__, {"regParam": 0.1}), "maxIter": 2}
            told = dwell.report(kind(**more, **asked).fit(self.data))
            self.assertEqual({name: told.params[name] for name in asked}, asked)
        with self.assertRaisesRegex(Exception, "no-such"):
            LogisticRegression(algorithm="no-such").fit(self.data)

    def test_a_report_is_whole(self):
        model = LogisticRegression(regParam=0.1).fit(self.data)
        told = dwell.report(model)
        self.assertRegex(repr(told), "^LogisticRegression %s: regParam=0.1 .*\nnewton by native code: " % model.uid)
        self.assertIn(model.uid, told.text)
        self.assertIn("<svg", told.page)
        self.assertEqual(told.rounds[-1].objective, told.objective)
        self.assertEqual(pickle.loads(pickle.dumps(told)), told)
        self.assertEqual(dwell.report(model.copy()), told)

    def test_a_report_is_that_of_the_model_and_not_of_its_estimator(self):
        estimator = LinearRegression(regParam=0.1, labelCol="number")
        first, second = estimator.fit(self.data.limit(100)), estimator.fit(self.data)
        third, fourth = estimator.fit(self.data, [{estimator.regParam: 1, estimator.localWork: 2}, {estimator.regParam: 2}])
        self.assertEqual([dwell.report(model).rows for model in (first, second)], [100, 300])
        self.assertEqual([dwell.report(model).params["regParam"] for model in (fourth, third)], [2.0, 1.0])

    def test_models_without_a_report(self):
        stock = regression.LinearRegression().fit(self.data)
        stock.write().overwrite().save(self.path("stock model"))
        for model in stock, regression.LinearRegressionModel.load(self.path("stock model")), self.data:
            with self.assertRaisesRegex(LookupError, "no fit report for .* A server keeps the last 100 "):
                dwell.report(model)

    def test_estimators_pipelines_and_models_are_saved_and_loaded(self):
        for kind in ESTIMATORS:
            asked = own(kind)
            estimator = kind(maxIter=9, **asked)
            estimator.write().overwrite().save(self.path("estimator"))
            loaded = kind.load(self.path("estimator"))
            self.assertIs(type(loaded), kind)
            self.assertEqual((loaded.uid, loaded.getMaxIter()), (estimator.uid, 9))
            self.assertEqual({name: loaded.getOrDefault(name) for name in asked}, asked)
        assembler = VectorAssembler(inputCols=["features", "three"], outputCol="all")
        pipeline = Pipeline(stages=[assembler, LinearRegression(featuresCol="all", labelCol="number", regParam=0.1)])
        pipeline.write().overwrite().save(self.path("pipeline"))
        self.assertIs(type(Pipeline.load(self.path("pipeline")).getStages()[1]), LinearRegression)
        model = pipeline.fit(self.data)
        self.assertEqual(dwell.report(model).features, 4)
        model.write().overwrite().save(self.path("model"))
        again = PipelineModel.load(self.path("model"))
        self.assertIs(type(again.stages[1]), regression.LinearRegressionModel)
        self.assertEqual(again.stages[1].coefficients, model.stages[1].coefficients)

    def test_tuning(self):
        ours = LogisticRegression(maxIter=20)
        grid = ParamGridBuilder().addGrid(ours.regParam, [0.1, 0.01]).addGrid(ours.elasticNetParam, [0.0, 0.5]).build()
        validator = CrossValidator(estimator=ours, estimatorParamMaps=grid, evaluator=BinaryClassificationEvaluator(), numFolds=2, parallelism=2)
        validator.write().overwrite().save(self.path("validator"))
        validator = CrossValidator.load(self.path("validator"))
        self.assertIs(type(validator.getEstimator()), LogisticRegression)
        tuned = validator.fit(self.data)
        told = dwell.report(tuned)
        self.assertEqual((told.solver, told.rows, [one.metric for one in told.search]), ("native", 300, tuned.avgMetrics))
        (best,) = [one.params for one in told.search if one.is_best]
        self.assertEqual({name: told.params.get(name, 0.0) for name in best}, best)
        tuned.write().overwrite().save(self.path("tuned"))
        self.assertIs(type(CrossValidatorModel.load(self.path("tuned")).bestModel), classification.LogisticRegressionModel)
        rest = OneVsRest(classifier=LinearSVC(regParam=0.1, maxIter=10), labelCol="three").fit(self.data)
        self.assertEqual([one.solver for one in dwell.report(rest)], ["native"] * 3)

    def test_pysparks_own_estimators_with_the_switch(self):
        estimators = [made(kind) for kind in STOCK]
        with dwell.accelerate():
            for estimator, kind, model_class in zip(estimators, STOCK, MODELS):
                model = estimator.fit(self.data)
                self.assertIs(type(model), model_class)
                self.assertEqual(dwell.report(model).solver, "native")
                estimator.write().overwrite().save(self.path("switched"))
                self.assertIs(type(kind.load(self.path("switched"))), kind)
                metadata = next(pathlib.Path(self.path("switched"), "metadata").glob("part-*")).read_text()
                self.assertIn('"class":"org.apache.spark.ml.', metadata)
            ours = LinearSVC(regParam=0.01, loss="squaredHinge").fit(self.data)
            self.assertEqual(dwell.report(ours).params["loss"], "squaredHinge")
            grid = [{estimators[0].regParam: 0.1}, {estimators[0].regParam: 0.2}]
            self.assertEqual([dwell.report(model).params["regParam"] for model in estimators[0].fit(self.data, grid)], [0.1, 0.2])
        with self.assertRaises(LookupError):
            dwell.report(estimators[0].fit(self.data))

    @unittest.skipIf(server.VERSION < (4, 1), "its server sends no warnings")
    def test_warnings_arrive(self):
        with self.assertLogs("pyspark.ml.util", "WARNING") as logs:
            LinearSVC(regParam=0.1, algorithm="cocoa", maxIter=1, tol=1e-9).fit(self.data)
            LDA(k=2, maxIter=1, docConcentration=[1e7]).fit(self.data)
        self.assertIn("stopped after maxIter = 1 rounds", logs.output[0])
        self.assertIn("is trained by Spark's own code: a concentration is ", logs.output[1])

    def test_a_line_for_each_fit(self):
        shown = io.StringIO()
        with dwell.progress(shown):
            first = LinearSVC(regParam=0.1, algorithm="cocoa", maxIter=7, tol=0.0).fit(self.data)
            second = LDA(k=2, maxIter=3).fit(self.data)
        lines = shown.getvalue().splitlines()
        self.assertRegex(lines[0], r"^%s: round 7 of at most 7, gap \d\.\de[-+]\d+, \d+\.\d s$" % first.uid)
        self.assertRegex(lines[-1], r"^%s: round 3 of at most 3, \d+\.\d s$" % second.uid)

    def test_sessions_see_their_own_reports_alone(self):
        mine = LinearSVC(regParam=0.1).fit(self.data)
        self.assertTrue(dwell.report(mine))
        code = (
            "import dwell\nfrom dwell.ml.classification import LinearSVC\n"
            "reports = spark.read.format('dwell.session.Reports')\nprint(reports.load().count())\n"
            "model = LinearSVC(regParam=0.1).fit(data)\nprint([row.uid for row in reports.load().select('uid').collect()] == [model.uid])\n"
            "print(reports.option('fit', %r).load().count())" % mine._dwell_fit[1]
        )
        self.assertEqual(server.client(self.url, code).splitlines(), ["0", "True", "0"])

    def test_a_program_that_knows_pyspark_alone(self):
        program = pathlib.Path(self.scratch, "program.py")
        program.write_text(
            "import sys\nfrom pyspark.sql import SparkSession\nfrom pyspark.ml.classification import LinearSVC\n"
            "spark = SparkSession.builder.getOrCreate()\n" + server.DATA + "LinearSVC(regParam=0.1).fit(data)\n"
            "print(sys.argv[1:], [row.json.count('native') for row in spark.read.format('dwell.session.Reports').load().select('json').collect()])\n"
        )
        printed = server.python("-m", "dwell", str(program), "--depth", "3", SPARK_REMOTE=self.url)
        self.assertEqual(printed, "['--depth', '3'] [1]")

    def test_builders_and_attach(self):
        self.assertIsNone(dwell.attach())
        with self.assertRaisesRegex(dwell.DwellError, "there is nothing to configure"):
            dwell.configure(SparkSession.builder.remote(self.url))

    def test_a_server_without_the_jar(self):
        LinearRegression(regParam=0.1).fit(self.data).write().overwrite().save(self.path("for others"))
        code = (
            "import dwell\nfrom dwell.ml.regression import LinearRegression\nfrom pyspark.ml.regression import LinearRegressionModel\n"
            "for call in dwell.attach, dwell.accelerate, lambda: LinearRegression().fit(data):\n"
            "    try:\n        call()\n    except dwell.DwellError as error:\n        print(error)\n"
            "print(LinearRegressionModel.load(%r).coefficients.size)" % self.path("for others")
        )
        with server.running(server.COMMAND) as url:
            *said, size = server.client(url, code).splitlines()
        sentence = r"^The server of this session \(Spark Connect\) does not have Dwell's jar: .* --jars \S+dwell_2\.13-[\d.]+\.jar\.$"
        self.assertEqual([bool(re.match(sentence, line)) for line in said], [True] * 3, said)
        self.assertEqual(size, "3")


if __name__ == "__main__":
    unittest.main()
