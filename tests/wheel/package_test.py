"""The Python package as the wheel installs it.

DWELL_WHEEL is the folder of the wheel, SPARK_HOME a Spark distribution that pip has installed; the Python that runs this needs NumPy.
"""

import atexit
import dataclasses
import doctest
import importlib
import inspect
import io
import json
import math
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from unittest import mock

# A group of tests sees a folder of links.
SPARK = (pathlib.Path(os.environ["SPARK_HOME"]) / "jars").resolve().parent
(WHEEL,) = pathlib.Path(os.environ["DWELL_WHEEL"]).glob("*.whl")
INSTALLED = tempfile.mkdtemp()
atexit.register(shutil.rmtree, INSTALLED)
pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
subprocess.run(pip + ["--target", INSTALLED, str(WHEEL)], check=True)
PATHS = [INSTALLED, str(SPARK.parent)]
sys.path[:0] = PATHS

import dwell  # noqa: E402
from dwell import _progress, _report, _session  # noqa: E402
from dwell.ml import _keywords  # noqa: E402
from dwell.ml.classification import LinearSVC, LogisticRegression, MultilayerPerceptronClassifier  # noqa: E402
from dwell.ml.clustering import LDA  # noqa: E402
from dwell.ml.regression import LinearRegression  # noqa: E402
from pyspark.ml import Pipeline, PipelineModel, classification, clustering, regression  # noqa: E402
from pyspark.ml.classification import OneVsRest  # noqa: E402
from pyspark.ml.evaluation import BinaryClassificationEvaluator  # noqa: E402
from pyspark.ml.feature import Bucketizer, VectorAssembler  # noqa: E402
from pyspark.ml.linalg import Vectors  # noqa: E402
from pyspark.ml.tuning import CrossValidator, CrossValidatorModel, ParamGridBuilder, TrainValidationSplit  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

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


def script(code, **environment):
    """Runs code in a Python of its own. Returns its output; it must succeed."""
    return python("-c", code, **environment)


def python(*arguments, **environment):
    """The output of a Python of its own, which must succeed."""
    path = os.pathsep.join(PATHS)
    run = subprocess.run(
        [sys.executable, *arguments], env={**os.environ, "PYTHONPATH": path, **environment}, text=True, capture_output=True
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return run.stdout.strip()


class WheelTest(unittest.TestCase):
    def test_the_wheel_has_the_package_and_the_jars(self):
        with zipfile.ZipFile(WHEEL) as wheel:
            names = {name for name in wheel.namelist() if ".dist-info/" not in name}
            (metadata,) = [wheel.read(name).decode() for name in wheel.namelist() if name.endswith("/METADATA")]
        sources = pathlib.Path(__file__).resolve().parents[2] / "python"
        expected = {path.relative_to(sources).as_posix() for path in (sources / "dwell").rglob("*") if path.suffix in (".py", ".typed")}
        self.assertEqual(names, expected | {"dwell/jars/dwell_%s-%s.jar" % (scala, dwell.__version__) for scala in ("2.12", "2.13")})
        self.assertEqual(WHEEL.name, "dwell_spark-%s-py3-none-any.whl" % dwell.__version__)
        needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra" not in line]
        self.assertEqual(needed, [], "no version of pyspark is forced")


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        cls.spark = dwell.configure(builder.config("spark.sql.shuffle.partitions", "2")).getOrCreate()
        cls.spark.sparkContext.setLogLevel("ERROR")
        rows = [(float(i % 2), float(i % 3), float(i), Vectors.dense(i % 2 + 0.1 * (i % 5), i % 7, (i * i) % 11)) for i in range(300)]
        cls.data = cls.spark.createDataFrame(rows, ["label", "three", "number", "features"]).cache()
        cls.scratch = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()
        cls.scratch.cleanup()

    def path(self, name):
        return str(pathlib.Path(self.scratch.name) / name)

    def report(self, model):
        return self.spark._jvm.dwell.report.FitReport.of(model._java_obj)

    def test_the_report_is_that_of_the_jvm(self):
        model = LogisticRegression(regParam=0.1).fit(self.data)
        ours, java = dwell.report(model), self.report(model)
        self.assertEqual((ours.uid, ours.solver, ours.reason, ours.algorithm), (model.uid, "native", None, java.algorithm()))
        self.assertEqual((ours.objective, ours.gap, ours.relative_gap), (java.objective(), java.gap(), java.relativeGap()))
        self.assertEqual((ours.rows, ours.features, ours.converged), (300, 3, True))
        self.assertEqual((ours.estimator, ours.params["regParam"], ours.params["labelCol"], ours.dwell_version), ("LogisticRegression", 0.1, "label", dwell.__version__))
        self.assertEqual((ours.coefficients, ours.nonzero_coefficients, ours.explained), (3, java.nonzeroCoefficients(), java.explained()))
        self.assertRegex(ours.date, r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(dwell.report(model.copy()), ours)
        self.assertEqual(len(ours.rounds), java.rounds().size())
        self.assertAlmostEqual(ours.seconds, java.totalSeconds(), places=9)
        self.assertEqual((ours.to_text(), ours.rounds[0].round, ours.rounds[-1].objective), (java.toText(), 0, ours.objective))
        with self.assertRaises(dataclasses.FrozenInstanceError):
            ours.objective = 0.0
        frame = ours._repr_html_()
        self.assertTrue(frame.startswith('<iframe sandbox="" srcdoc=') and "&lt;svg" in frame and frame.count('"') == 8)
        ours.write_html(self.path("report.html"))
        self.assertEqual(pathlib.Path(self.path("report.html")).read_text(encoding="utf-8"), java.toHtml())

    def test_a_report_is_rendered_when_it_is_asked_for(self):
        model = LogisticRegression(regParam=0.1).fit(self.data)
        told = dwell.report(model)
        self.assertEqual(set(vars(told)), {"_java", "_tried"})
        self.assertFalse(hasattr(told, "_repr_latex_"))
        self.assertEqual((told.rows, len(told.rounds)), (300, self.report(model).rounds().size()))
        self.assertFalse({"text", "page"} & set(vars(told)))
        again = pickle.loads(pickle.dumps(told))
        self.assertEqual((again, repr(again), again.to_text(), again.page), (told, repr(told), told.to_text(), told.page))
        self.assertEqual(dataclasses.replace(told, rows=7).rows, 7)

    def test_a_report_outlives_its_session(self):
        code = (
            "import dwell\nfrom dwell.ml.regression import LinearRegression\nfrom pyspark.ml.linalg import Vectors\nfrom pyspark.sql import SparkSession\n"
            "spark = dwell.configure(SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false')).getOrCreate()\n"
            "rows = [(i % 7 - 0.3, Vectors.dense(i % 3, i % 5, i % 11)) for i in range(40)]\n"
            "model = LinearRegression(regParam=10, elasticNetParam=1).fit(spark.createDataFrame(rows, ['label', 'features']))\n"
            "told = dwell.report(model)\nspark.stop()\n"
            "print(model.uid in told.to_text(), told.rows, told.gap < 1e-12, 1000 < len(told.page) < 200000)"
        )
        self.assertEqual(script(code).splitlines()[-1], "True 40 True True")

    def test_numbers_that_json_does_not_have(self):
        facts = json.loads(self.report(LogisticRegression(regParam=0.1).fit(self.data)).toJson())
        facts.update(tolerance=None, gap=None)
        facts["phases"]["rest"] = facts["rounds"][0]["objective"] = facts["rounds"][0]["gap"] = None
        fields = _report._fields(facts)
        self.assertTrue(math.isnan(fields["tolerance"]) and math.isnan(fields["phases"].total) and math.isnan(fields["rounds"][0].objective))
        self.assertEqual((fields["gap"], fields["rounds"][0].gap), (None, None))
        with self.assertRaisesRegex(dwell.DwellError, "version 2"):
            _report._fields({**facts, "version": 2})

    def test_a_line_for_each_fit(self):
        shown = io.StringIO()
        with dwell.progress(shown):
            first = LinearSVC(regParam=0.1, algorithm="cocoa", maxIter=7, tol=0.0).fit(self.data)
            second = LDA(k=2, maxIter=3).fit(self.data)
        lines = shown.getvalue().splitlines()
        self.assertRegex(lines[0], r"^%s: round 7 of at most 7, gap \d\.\de[-+]\d+, \d+\.\d s$" % first.uid)
        self.assertRegex(lines[-1], r"^%s: round 3 of at most 3, \d+\.\d s$" % second.uid)
        self.assertEqual(len(lines), 2)

    def test_a_terminal_has_one_line_and_tqdm_a_bar(self):
        fit = {"uid": "a", "unit": "round", "round": 5, "maxRounds": 10, "tolerance": 1e-6, "relativeGap": 1e-3, "seconds": 2.0, "ended": False}
        terminal = io.StringIO()
        terminal.isatty = lambda: True
        line = _progress._Text(terminal)
        line.show(fit)
        line.show({**fit, "round": 6, "seconds": 2.4, "ended": True})
        text = "a: round 5 of at most 10, gap 1.0e-03 of 1e-06, 2.0 s, about 2 s left"
        self.assertEqual(terminal.getvalue().split("\r\x1b[K"), ["", text, "a: round 6 of at most 10, gap 1.0e-03 of 1e-06, 2.4 s\n"])
        tqdm = mock.Mock()
        bar = _progress._Bar(tqdm)
        bar.show(fit)
        self.assertEqual((tqdm.return_value.n, tqdm.return_value.set_description_str.call_args[0][0]), (0.5, text))
        tqdm.return_value.close.assert_not_called()
        bar.show({**fit, "ended": True})
        tqdm.return_value.close.assert_called_once_with()

    def test_the_seconds_that_are_left(self):
        fit = {"round": 10, "maxRounds": 100, "tolerance": 1e-6, "seconds": 10.0}
        self.assertIsNone(_progress.left({**fit, "round": 0}, []))
        self.assertAlmostEqual(_progress.left(fit, []), 90.0)
        # A tenth every two seconds: from 1e-3 to 1e-6 it takes six.
        falling = [(2.0 * k, 10.0 ** (-k)) for k in range(4)]
        self.assertAlmostEqual(_progress.left(fit, falling), 6.0)
        self.assertAlmostEqual(_progress.left({**fit, "maxRounds": 12}, falling), 2.0)

    def test_the_rounds_go_into_a_frame(self):
        pandas = mock.Mock()
        told = dwell.report(LDA(k=2, maxIter=2).fit(self.data))
        with mock.patch.dict(sys.modules, pandas=pandas):
            told.to_pandas()
        (rows,), keywords = pandas.DataFrame.call_args
        self.assertEqual(keywords["columns"], [field.name for field in dataclasses.fields(told.rounds[0])])
        self.assertEqual([row[0] for row in rows], [0, 1, 2])
        self.assertIsNone(told.relative_gap)

    def test_a_fit_by_spark_and_a_model_without_a_report(self):
        words = self.spark.createDataFrame([(Vectors.dense(1.0, 2.0, 0.0),), (Vectors.dense(0.0, 1.0, 3.0),)], ["features"])
        told = dwell.report(LDA(k=2, maxIter=1, optimizer="em").fit(words))
        self.assertEqual((told.solver, told.objective, told.rounds), ("spark", None, ()))
        self.assertIn("optimizer=em", told.reason)
        stock = regression.LinearRegression().fit(self.data)
        with self.assertRaisesRegex(LookupError, "no fit report for " + stock.uid):
            dwell.report(stock)

    def test_params_are_those_of_the_jvm(self):
        for kind in ESTIMATORS:
            ours = kind()
            java = {param.name(): param for param in ours._java_obj.params()}
            self.assertEqual(set(java), {param.name for param in ours.params})
            own = {param.name for param in ours.params} - {param.name for param in STOCK[ESTIMATORS.index(kind)]().params}
            self.assertTrue(own)
            for name in own:
                param = ours.getParam(name)
                default = ours._java_obj.getDefault(java[name]).get()
                self.assertEqual(ours.getOrDefault(param), default, name)
                words = java[name].doc().split(":")[0].split(" (")[0]
                self.assertTrue(param.doc.startswith(words), "%s: %s, and on the JVM %s" % (name, param.doc, java[name].doc()))

    def test_params_of_the_documents_have_their_defaults(self):
        page = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "params.md").read_text(encoding="utf-8")
        rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|(?: [^|]+ \|){2}$", page, re.MULTILINE))
        found = {name: kind().getOrDefault(name) for kind in ESTIMATORS for name in kind._own if name in rows}
        self.assertEqual(set(rows), set(found))
        self.assertEqual({name: "`%s`" % value if isinstance(value, str) else str(value) for name, value in found.items()}, rows)

    def test_type_checkers_know_the_keywords(self):
        for kind, stock in zip(ESTIMATORS, STOCK):
            typed = getattr(_keywords, kind.__name__ + "Keywords").__annotations__
            self.assertEqual(set(typed), {name for name in inspect.signature(stock.__init__).parameters if name != "self"} | set(kind._own))

    def test_keywords_setters_and_copies(self):
        ours = LogisticRegression(regParam=0.25, algorithm="cocoa", localWork=2, numWorkers=3)
        self.assertEqual(
            (ours.getRegParam(), ours.getAlgorithm(), ours.getLocalWork(), ours.getNumWorkers(), ours.getOrientation()),
            (0.25, "cocoa", "2.0", 3, "auto"),
        )
        self.assertIs(ours.setParams(maxIter=7, stepSize=0.5, orientation="dual", aggregation="driver"), ours)
        self.assertEqual((ours.getMaxIter(), ours.getStepSize(), ours.getAggregation()), (7, "0.5", "driver"))
        copied = ours.copy({ours.algorithm: "l-bfgs"})
        self.assertEqual((copied.getAlgorithm(), ours.getAlgorithm(), copied.getRegParam()), ("l-bfgs", "cocoa", 0.25))
        self.assertIn("training algorithm", ours.explainParams())
        self.assertEqual(LinearSVC(loss="squaredHinge").setParams(tol=0.1).getLoss(), "squaredHinge")
        self.assertEqual(LinearSVC().setParams(loss="squaredHinge", regParam=0.5).getLoss(), "squaredHinge")
        self.assertEqual(LDA(k=3, localBatch=50).setTopicEstimate("mean").getLocalBatch(), 50)
        with self.assertRaisesRegex(Exception, "no-such"):
            LogisticRegression(algorithm="no-such").fit(self.data)
        with self.assertRaises(TypeError):
            LogisticRegression(noSuchParam=1)

    def test_fits_are_native_and_models_are_those_of_pyspark(self):
        for kind, model_class in zip(ESTIMATORS, MODELS):
            estimator = made(kind)
            model = estimator.fit(self.data)
            self.assertIs(type(model), model_class)
            self.assertEqual(self.report(model).solver(), "native")
            self.assertEqual(model.uid, estimator.uid)
        spark = classification.LogisticRegression(regParam=0.01, tol=1e-12).fit(self.data)
        ours = LogisticRegression(regParam=0.01, tol=1e-12).fit(self.data)
        self.assertLess(abs(spark.coefficients.toArray() - ours.coefficients.toArray()).max(), 1e-6)
        self.assertGreater(ours.summary.accuracy, 0.5)
        spark = regression.LinearRegression(labelCol="number").fit(self.data).summary
        ours = LinearRegression(labelCol="number").fit(self.data).summary
        for name in ("r2", "rootMeanSquaredError", "numInstances", "degreesOfFreedom", "labelCol"):
            self.assertAlmostEqual(getattr(ours, name), getattr(spark, name), 6, name)
        self.assertEqual(len(ours.pValues), len(spark.pValues))
        self.assertEqual(ours.residuals.count(), self.data.count())
        self.assertGreater(LinearSVC(regParam=0.01).fit(self.data).summary().areaUnderROC, 0.5)

    def test_estimators_pipelines_and_models_are_saved_and_loaded(self):
        for kind in ESTIMATORS:
            estimator = kind(maxIter=9, numWorkers=2)
            estimator.write().overwrite().save(self.path("estimator"))
            loaded = kind.load(self.path("estimator"))
            self.assertIs(type(loaded), kind)
            self.assertEqual((loaded.getMaxIter(), loaded.getNumWorkers(), loaded.uid), (9, 2, estimator.uid))
        assembler = VectorAssembler(inputCols=["features", "three"], outputCol="all")
        pipeline = Pipeline(stages=[assembler, LinearRegression(featuresCol="all", labelCol="number", regParam=0.1)])
        pipeline.write().overwrite().save(self.path("pipeline"))
        self.assertIs(type(Pipeline.load(self.path("pipeline")).getStages()[1]), LinearRegression)
        model = pipeline.fit(self.data)
        model.write().overwrite().save(self.path("model"))
        again = PipelineModel.load(self.path("model"))
        self.assertIs(type(again.stages[1]), regression.LinearRegressionModel)
        # A Spark that knows nothing of Dwell loads it too.
        code = (
            "from pyspark.sql import SparkSession\nfrom pyspark.ml import PipelineModel\n"
            "spark = SparkSession.builder.master('local[1]').getOrCreate()\n"
            "print(PipelineModel.load(%r).stages[1].coefficients[0])" % self.path("model")
        )
        self.assertEqual(float(script(code, PYTHONPATH=str(SPARK.parent)).splitlines()[-1]), model.stages[1].coefficients[0])

    def test_tuning(self):
        ours = LogisticRegression(maxIter=20)
        grid = ParamGridBuilder().addGrid(ours.regParam, [0.1, 0.01]).addGrid(ours.elasticNetParam, [0.0, 0.5]).build()
        evaluator = BinaryClassificationEvaluator()
        validator = CrossValidator(estimator=ours, estimatorParamMaps=grid, evaluator=evaluator, numFolds=2, parallelism=2)
        validator.write().overwrite().save(self.path("validator"))
        validator = CrossValidator.load(self.path("validator"))
        self.assertIs(type(validator.getEstimator()), LogisticRegression)
        tuned = validator.fit(self.data)
        self.assertIs(type(tuned.bestModel), classification.LogisticRegressionModel)
        self.assertEqual(len(tuned.avgMetrics), 4)
        tuned.write().overwrite().save(self.path("tuned"))
        self.assertIs(type(CrossValidatorModel.load(self.path("tuned")).bestModel), classification.LogisticRegressionModel)
        split = TrainValidationSplit(estimator=ours, estimatorParamMaps=grid, evaluator=evaluator, parallelism=2)
        self.assertEqual(len(split.fit(self.data).validationMetrics), 4)
        rest = OneVsRest(classifier=LinearSVC(regParam=0.1, maxIter=10), labelCol="three", parallelism=2)
        rest.write().overwrite().save(self.path("rest"))
        models = OneVsRest.load(self.path("rest")).fit(self.data).models
        self.assertEqual([type(model) for model in models], [classification.LinearSVCModel] * 3)

    def test_a_grid_is_fitted_on_the_jvm(self):
        ours = LogisticRegression(maxIter=30)
        maps = [{ours.regParam: 0.01}, {ours.regParam: 1.0, ours.predictionCol: "mine"}, {ours.regParam: 0.1}]
        fits = ours.fitMultiple(self.data, maps)
        found = dict(fits)
        self.assertEqual(list(found), [1, 2, 0], "the largest penalty is first")
        alone = [ours.fit(self.data, one) for one in maps]
        for index, model in found.items():
            self.assertIs(type(model), classification.LogisticRegressionModel)
            self.assertLess(abs(model.coefficients.toArray() - alone[index].coefficients.toArray()).max(), 1e-4)
        self.assertEqual(found[1].getPredictionCol(), "mine")
        with ours.fitMultiple(self.data, maps) as fits:
            next(fits)
        self.assertEqual(list(fits), [])
        self.assertEqual(len(ours.fit(self.data, maps)), 3)

    def test_pyspark_is_named_where_it_is_missing_or_too_old(self):
        fresh = "import dwell\ntry:\n    import dwell.ml.classification\nexcept ImportError as error:\n    print(error)\n"
        self.assertRegex(script(fresh, PYTHONPATH=INSTALLED), r"pyspark is not there: .*pip install 'pyspark\[ml\]'")
        with tempfile.TemporaryDirectory() as older:
            (pathlib.Path(older) / "pyspark").mkdir()
            (pathlib.Path(older) / "pyspark" / "__init__.py").write_text("__version__ = '3.4.4'\n")
            self.assertIn("pyspark is 3.4.4, and Dwell needs 3.5", script(fresh, PYTHONPATH=os.pathsep.join([INSTALLED, older])))

    def test_a_version_of_spark_that_was_not_tested_is_named(self):
        heard = "import warnings\nwith warnings.catch_warnings(record=True) as all:\n    warnings.simplefilter('always')\n    import dwell.ml\nprint([str(one.message) for one in all])\n"
        with tempfile.TemporaryDirectory() as other:
            (pathlib.Path(other) / "pyspark" / "sql").mkdir(parents=True)
            (pathlib.Path(other) / "pyspark" / "sql" / "utils.py").write_text("def is_remote():\n    return False\n")
            for version, told in ("4.2.1", "not on pyspark 4.2.1"), ("4.3.7", "[]"), ("5.0.0.dev1", "not on pyspark 5.0.0.dev1"):
                (pathlib.Path(other) / "pyspark" / "__init__.py").write_text("__version__ = '%s'\n" % version)
                self.assertIn(told, script(heard, PYTHONPATH=os.pathsep.join([INSTALLED, other])))

    def test_signatures_name_all_keywords_with_their_defaults(self):
        for kind, stock in zip(ESTIMATORS, STOCK):
            for ours, spark in (kind.__init__, stock.__init__), (kind.setParams, stock.setParams):
                signature = inspect.signature(ours).parameters
                expected = {name: one.default for name, one in inspect.signature(spark).parameters.items()}
                self.assertEqual({name: one.default for name, one in signature.items()}, {**expected, **kind._own})
                self.assertEqual({signature[name].kind for name in kind._own}, {inspect.Parameter.KEYWORD_ONLY})
            self.assertTrue(all(name in str(inspect.signature(kind)) for name in kind._own))

    def test_examples_of_docstrings_run(self):
        modules = [importlib.import_module("dwell." + name) for name in ("ml.classification", "ml.regression", "ml.clustering", "ml.tuning", "_report", "_session", "_progress", "_accelerate")]
        counts = [doctest.testmod(module, verbose=False, optionflags=doctest.ELLIPSIS) for module in modules]
        self.assertEqual(sum(count.failed for count in counts), 0)
        self.assertTrue(all(count.attempted >= 2 for count in counts), counts)

    def test_the_jar_is_that_of_the_distribution(self):
        self.assertEqual(python("-m", "dwell", "--jar"), dwell.jar())
        own = pathlib.Path(dwell.jar()).name
        (library,) = (SPARK / "jars").glob("scala-library-*.jar")
        self.assertEqual(own, "dwell_%s-%s.jar" % (re.match(r"scala-library-(2\.\d+)", library.name)[1], dwell.__version__))
        for version, found in ("2.12.18", "dwell_2.12"), ("2.13.17", "dwell_2.13"), ("2.11.12", None):
            with tempfile.TemporaryDirectory() as home, mock.patch.dict(os.environ, SPARK_HOME=home):
                jars = pathlib.Path(home) / "jars"
                jars.mkdir()
                (jars / ("scala-library-%s.jar" % version)).touch()
                if found is not None:
                    self.assertIn(found, dwell.jar())
                else:
                    with self.assertRaisesRegex(dwell.DwellError, "Scala 2.11, .* Scala 2.13 and 2.12"):
                        dwell.jar()

    def test_java_8_gets_one_sentence(self):
        check = _session._check_java
        for call in LinearRegression, dwell.attach:
            with mock.patch.object(_session, "_check_java", lambda _: check("1.8")):
                with self.assertRaisesRegex(dwell.DwellError, "runs on Java 8, and Dwell needs Java 11 or newer"):
                    call()

    def test_the_jar_for_another_scala_gets_one_sentence(self):
        own = pathlib.Path(dwell.jar())
        (other,) = (jar for jar in own.parent.glob("*.jar") if jar != own)
        code = (
            "import dwell\nfrom dwell.ml.regression import LinearRegression\nfrom pyspark.sql import SparkSession\n"
            # As spark-submit --jars does.
            "SparkSession.builder.master('local[1]').config('spark.jars', %r).getOrCreate()\n"
            "try:\n    LinearRegression()\nexcept dwell.DwellError as error:\n    print(error)\n" % str(other)
        )
        sentence = r"Dwell's jar for Scala 2\.1\d, and its Spark is built for Scala 2\.1\d\.\d+: use .*%s\.$" % re.escape(own.name)
        self.assertRegex(script(code).splitlines()[-1], sentence)

    def test_remote_builders_are_refused(self):
        builder = SparkSession.Builder().config("spark.remote", "sc://somewhere")
        with self.assertRaisesRegex(dwell.DwellError, "Spark Connect"):
            dwell.configure(builder)

    def test_a_jar_of_another_version_is_named(self):
        with mock.patch("dwell._session.VERSION", "9.9.9"), self.assertRaisesRegex(dwell.DwellError, "0.1.0.* 9.9.9"):
            LinearRegression()

    def test_accelerated_estimators_stay_stock(self):
        stock = classification.LogisticRegression(regParam=0.01, maxIter=20)
        before = stock.fit(self.data)
        with dwell.accelerate():
            for kind, model_class in zip(STOCK, MODELS):
                estimator = made(kind)
                model = estimator.fit(self.data)
                self.assertIs(type(model), model_class)
                self.assertEqual(self.report(model).solver(), "native", kind)
            # Made before the switch, in a pipeline, and saved under its own name.
            pipeline = Pipeline(stages=[stock])
            self.assertEqual(self.report(pipeline.fit(self.data).stages[0]).solver(), "native")
            pipeline.write().overwrite().save(self.path("stock"))
            again = Pipeline.load(self.path("stock"))
            self.assertIs(type(again.getStages()[0]), classification.LogisticRegression)
            model = again.fit(self.data)
            self.assertEqual(self.report(model.stages[0]).solver(), "native")
            model.write().overwrite().save(self.path("stock model"))
            grid = ParamGridBuilder().addGrid(stock.regParam, [0.1, 0.01]).build()
            evaluator = BinaryClassificationEvaluator()
            validator = CrossValidator(estimator=stock, estimatorParamMaps=grid, evaluator=evaluator, numFolds=2, parallelism=2)
            self.assertEqual(self.report(validator.fit(self.data).bestModel).solver(), "native")
            with dwell.accelerate(False):
                self.assertFalse(self.spark._jvm.dwell.report.FitReport.find(stock.fit(self.data)._java_obj).isDefined())
            self.assertEqual(self.report(stock.fit(self.data)).solver(), "native")
        self.assertFalse(self.spark._jvm.dwell.report.FitReport.find(stock.fit(self.data)._java_obj).isDefined())
        metadata = next(pathlib.Path(self.path("stock")).glob("stages/*/metadata/part-00000*")).read_text()
        self.assertIn('"class":"org.apache.spark.ml.classification.LogisticRegression"', metadata)
        code = (
            "from pyspark.ml import Pipeline, PipelineModel\nfrom pyspark.sql import SparkSession\n"
            "SparkSession.builder.master('local[1]').getOrCreate()\nprint(type(Pipeline.load(%r).getStages()[0]).__module__)\n"
            "print(PipelineModel.load(%r).stages[0].coefficients[0])" % (self.path("stock"), self.path("stock model"))
        )
        module, coefficient = script(code, PYTHONPATH=str(SPARK.parent)).splitlines()[-2:]
        self.assertEqual((module, float(coefficient)), ("pyspark.ml.classification", model.stages[0].coefficients[0]))
        self.assertGreater(before.coefficients.numNonzeros(), 0)

    def test_remote_sessions_keep_their_grids(self):
        stock = classification.LogisticRegression(maxIter=3)
        with dwell.accelerate(), mock.patch("pyspark.sql.utils.is_remote", return_value=True):
            with mock.patch("pyspark.ml.base.Estimator.fitMultiple", return_value="Spark's own"):
                self.assertEqual(stock.fitMultiple(self.data, [{}]), "Spark's own")
                self.assertEqual(LogisticRegression().fitMultiple(self.data, [{}]), "Spark's own")

    def test_the_code_of_its_page_runs(self):
        page = (pathlib.Path(__file__).resolve().parents[2] / "python" / "README.md").read_text()
        names = {"train": self.data}
        exec(page.split("```python\n")[1].split("```")[0], names)
        self.assertIs(type(names["model"]), classification.LogisticRegressionModel)

    def test_a_program_that_knows_pyspark_alone(self):
        program = pathlib.Path(self.scratch.name) / "program.py"
        program.write_text(
            "import sys\nfrom pyspark.ml.linalg import Vectors\nfrom pyspark.ml.regression import LinearRegression\n"
            "from pyspark.sql import SparkSession\nspark = SparkSession.builder.master('local[1]').getOrCreate()\n"
            "data = spark.createDataFrame([(float(i), Vectors.dense(i, i % 3)) for i in range(20)], ['label', 'features'])\n"
            "model = LinearRegression(regParam=0.1).fit(data)\n"
            "print(sys.argv[1:], spark._jvm.dwell.report.FitReport.of(model._java_obj).solver())\n"
        )
        path = os.pathsep.join(PATHS)
        run = subprocess.run(
            [sys.executable, "-m", "dwell", str(program), "--depth", "3"],
            env={**os.environ, "PYTHONPATH": path}, text=True, capture_output=True,
        )
        self.assertEqual(run.returncode, 0, run.stderr[-2000:])
        self.assertEqual(run.stdout.strip().splitlines()[-1], "['--depth', '3'] native")
        self.assertIn("train by native code", run.stderr)

    def test_sessions_without_the_jar(self):
        code = (
            "import dwell\nfrom dwell.ml.regression import LinearRegression\nfrom pyspark.sql import SparkSession\n"
            "def said(call):\n    try:\n        call()\n    except dwell.DwellError as error:\n        print(error)\n"
            "said(LinearRegression)\n"
            "spark = SparkSession.builder.master('local[1]').getOrCreate()\n"
            "said(LinearRegression)\n"
            "said(lambda: dwell.configure(SparkSession.builder))\n"
            "thread = spark._jvm.java.lang.Thread.currentThread()\n"
            "loader = thread.getContextClassLoader()\n"
            "thread.setContextClassLoader(spark._jvm.java.lang.ClassLoader.getSystemClassLoader())\n"
            "said(dwell.attach)\n"
            "thread.setContextClassLoader(loader)\n"
        )
        without, no_jar, late, closed = script(code).splitlines()[-4:]
        self.assertIn("There is no Spark session", without)
        self.assertIn("does not have Dwell's jar: call dwell.attach()", no_jar)
        self.assertIn("runs already", late)
        self.assertIn("AppClassLoader. Name the jar where the session is set up", closed)

    def test_a_session_with_the_jar_needs_none_of_the_package(self):
        # As where a cluster has the jar, and executors and driver get the package as a zip.
        with mock.patch("dwell._session._JARS", pathlib.Path(self.scratch.name) / "nowhere"):
            with self.assertRaisesRegex(dwell.DwellError, "nowhere"):
                dwell.jar()
            dwell.attach()
            with dwell.accelerate():
                self.assertEqual(dwell.report(classification.LinearSVC(regParam=0.1).fit(self.data)).solver, "native")

    def test_reports_of_pipelines_tuning_and_classes(self):
        ours = LogisticRegression(regParam=0.1, maxIter=20)
        bins = Bucketizer(splits=[-1.0, 150.0, 400.0], inputCol="number", outputCol="bin")
        one = Pipeline(stages=[bins, ours]).fit(self.data)
        self.assertEqual(dwell.report(one), dwell.report(one.stages[1]))
        two = Pipeline(stages=[ours, LinearSVC(regParam=0.1, predictionCol="other", rawPredictionCol="raw")]).fit(self.data)
        self.assertEqual([told.uid for told in dwell.report(two)], [stage.uid for stage in two.stages])
        grid = ParamGridBuilder().addGrid(ours.regParam, [0.1, 0.01]).build()
        evaluator = BinaryClassificationEvaluator()
        for tuning in CrossValidator, TrainValidationSplit:
            tuned = tuning(estimator=Pipeline(stages=[ours]), estimatorParamMaps=grid, evaluator=evaluator).fit(self.data)
            told = dwell.report(tuned)
            self.assertEqual(told, dwell.report(tuned.bestModel.stages[0]))
            metrics = tuned.avgMetrics if tuning is CrossValidator else tuned.validationMetrics
            self.assertEqual([one.params for one in told.search], [{"regParam": 0.1}, {"regParam": 0.01}])
            self.assertEqual([one.metric for one in told.search], metrics)
            self.assertEqual([one.params["regParam"] for one in told.search if one.is_best], [tuned.bestModel.stages[0].getRegParam()])
            self.assertEqual([one.deviation is None for one in told.search], [tuning is TrainValidationSplit] * 2)
            self.assertIn("the best of 2: ", repr(told))
            self.assertEqual(told.text.splitlines()[-2:], [str(one) for one in told.search])
            self.assertEqual(pickle.loads(pickle.dumps(told)).search, told.search)
        rest = OneVsRest(classifier=LinearSVC(regParam=0.1, maxIter=10), labelCol="three").fit(self.data)
        self.assertEqual([told.uid for told in dwell.report(rest)], [model.uid for model in rest.models])
        self.assertEqual(dwell.report(one).search, ())
        for other in Pipeline(stages=[bins]).fit(self.data), bins, ours, self.data, None, 3:
            with self.assertRaisesRegex(LookupError, "There is no fit report for "):
                dwell.report(other)

    def test_a_report_shows_itself_in_a_few_lines(self):
        model = LogisticRegression(regParam=0.1).fit(self.data)
        told = dwell.report(model)
        lines = repr(told).splitlines()
        self.assertEqual(len(lines), 5)
        self.assertRegex(lines[0], f"^LogisticRegression {model.uid}: regParam=0.1 elasticNetParam=0.0 maxIter=100 tol=1e-06 algorithm=auto")
        self.assertTrue(lines[1].startswith("newton by native code: "))
        self.assertRegex(lines[2], r"^no model has an objective lower than 0\.\d+ by more than \d\S*%$")
        self.assertRegex(lines[3], r"^300 rows x 3 features; %d rounds; 3 of 3 coefficients are not 0; at least \d+\.\d%% of the deviance explained$" % told.rounds[-1].round)
        self.assertRegex(lines[4], r"^\d+\.\d\d s: reading \d")
        words = self.spark.createDataFrame([(Vectors.dense(1.0, 2.0),)], ["features"])
        by_spark = repr(dwell.report(LDA(k=2, maxIter=1, optimizer="em").fit(words)))
        self.assertRegex(by_spark, r"^LDA LDA_\w+: k=2 maxIter=1 optimizer=em.*\nspark by Spark: .*optimizer=em")

    def test_maps_of_a_fit_take_what_setters_take(self):
        ours = LogisticRegression(maxIter=3)
        first, second = ours.fit(self.data, [{ours.localWork: 2, ours.regParam: 1}, {ours.stepSize: 0.1, ours.algorithm: "ma-sgd"}])
        self.assertEqual((first.getRegParam(), second.getMaxIter()), (1.0, 3))


if __name__ == "__main__":
    unittest.main()
