"""Clients that know pyspark alone, in sessions with the plugin and without."""

import json
import pathlib
import tempfile
import unittest

import server

FIT = """
import json
from pyspark.ml import Pipeline
from pyspark.ml.classification import LinearSVC, LogisticRegression, MultilayerPerceptronClassifier
from pyspark.ml.clustering import LDA
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.ml.regression import LinearRegression
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder
estimators = [LogisticRegression(regParam=0.01, threshold=0.4), LinearSVC(regParam=0.01), LinearRegression(regParam=0.01, labelCol="number"), LDA(k=2, maxIter=3), MultilayerPerceptronClassifier(layers=[3, 2, 2], maxIter=3)]
def reports():
    return [json.loads(row.json) for row in spark.read.format("dwell.session.Reports").load().select("json").collect()]
"""

TRAINED = FIT + """
models = [estimator.fit(data) for estimator in estimators]
print(json.dumps([[one["uid"], one["solver"]] for one in reports()] == [[model.uid, "native"] for model in models]))
print(json.dumps([type(model).__module__ + "." + type(model).__name__ for model in models]))
print(models[0].summary.accuracy > 0.9, models[0].getThreshold(), models[2].transform(data).count())
grid = ParamGridBuilder().addGrid(estimators[0].regParam, [0.1, 0.01]).build()
validator = CrossValidator(estimator=Pipeline(stages=[estimators[0]]), estimatorParamMaps=grid, evaluator=BinaryClassificationEvaluator(), numFolds=2)
print(type(validator.fit(data).bestModel.stages[0]).__name__, len(reports()), {one["solver"] for one in reports()})
"""

SAVED = FIT + """
for place, estimator in enumerate(estimators):
    estimator.write().overwrite().save(PATH + str(place))
Pipeline(stages=estimators[:2]).write().overwrite().save(PATH + "pipeline")
estimators[0].fit(data).write().overwrite().save(PATH + "model")
print(len(reports()))
"""

LOADED = FIT + """
from pyspark.ml.classification import LogisticRegressionModel
for place, estimator in enumerate(estimators):
    one = type(estimator).load(PATH + str(place))
    print(type(one).__name__, {param.name: value for param, value in sorted(one.extractParamMap().items(), key=str) if one.isSet(param)})
model = LogisticRegressionModel.load(PATH + "model")
print(type(model).__name__, model.transform(data).count(), model.uid == LogisticRegression.load(PATH + "0").uid)
stages = Pipeline.load(PATH + "pipeline").getStages()
stages[1].fit(data)
print([type(stage).__name__ for stage in stages], len(reports()))
"""

#: A client without the package cannot have an estimator of dwell.ml, with the plugin as little as without it.
REFUSED = FIT + """
try:
    print(LinearSVC.load(PATH))
except Exception as error:
    print(type(error).__name__, error)
"""

PLUGIN = "dwell.connect.Backend"


class PluginTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = cls.enterClassContext(tempfile.TemporaryDirectory())

    def run_client(self, code, plugin=PLUGIN, name="", dwell=False):
        start = "spark.conf.set('spark.connect.ml.backend.classes', %r)\nPATH = %r\n" % (plugin, str(pathlib.Path(self.scratch, name)))
        return server.client(server.shared(), start + code, dwell=dwell)

    def test_plain_clients_train_by_native_code(self):
        reported, models, one, search = self.run_client(TRAINED).splitlines()
        self.assertEqual(reported, "true")
        names = ["classification.LogisticRegressionModel", "classification.LinearSVCModel", "regression.LinearRegressionModel", "clustering.LocalLDAModel", "classification.MultilayerPerceptronClassificationModel"]
        self.assertEqual(json.loads(models), ["pyspark.ml." + name for name in names])
        self.assertEqual(one, "True 0.4 300")
        # Two maps in two folds, and the best map, besides the five.
        self.assertEqual(search, "LogisticRegressionModel 10 {'native'}")

    def test_what_is_saved_is_sparks_own_and_is_loaded_with_the_plugin_and_without(self):
        self.assertEqual(self.run_client(SAVED, name="with-"), "1")
        self.assertEqual(self.run_client(SAVED, plugin="", name="without-"), "0")
        written = {}
        for start in "with-", "without-":
            files = pathlib.Path(self.scratch).glob(start + "*/**/metadata/part-*")
            written[start] = sorted(json.loads(file.read_text())["class"] for file in files)
        self.assertEqual(written["with-"], written["without-"])
        self.assertEqual({name for name in written["with-"] if not name.startswith("org.apache.spark.ml.") and not name.startswith("pyspark.ml.")}, set())
        self.assertEqual(len(written["with-"]), 9)
        *plain, stock = self.run_client(LOADED, plugin="", name="with-").splitlines()
        *native, ours = self.run_client(LOADED, name="without-").splitlines()
        self.assertEqual((len(native), native), (6, plain))
        stages = "['LogisticRegression', 'LinearSVC'] "
        self.assertEqual((stock, ours), (stages + "0", stages + "1"))

    def test_estimators_of_dwell_stay_dwells(self):
        code = (
            "import dwell\nfrom dwell.ml.classification import LinearSVC\nours = LinearSVC(regParam=0.1, loss='squaredHinge')\n"
            "ours.write().overwrite().save(PATH)\nprint(type(LinearSVC.load(PATH)).__module__, dwell.report(ours.fit(data)).params['loss'])"
        )
        self.assertEqual(self.run_client(code, name="ours", dwell=True), "dwell.ml.classification squaredHinge")
        metadata = next(pathlib.Path(self.scratch, "ours", "metadata").glob("part-*")).read_text()
        self.assertEqual(json.loads(metadata)["class"], "dwell.ml.classification.LinearSVC")
        self.assertEqual(self.run_client(REFUSED, name="ours"), self.run_client(REFUSED, plugin="", name="ours"))


if __name__ == "__main__":
    unittest.main()
