"""What a server does with sessions and models: class loaders of their own, models that are dropped, moved to disk and counted."""

import pathlib
import tempfile
import unittest
import zipfile

import server

IMPORTS = """
import dwell
from dwell.ml.classification import LogisticRegression
from pyspark.ml.classification import LogisticRegression as Stock
"""

ARTIFACT = IMPORTS + """
spark.addArtifacts(JAR)
own = LogisticRegression(regParam=0.1, algorithm="cocoa", orientation="dual").fit(data)
print(dwell.report(own).solver, dwell.report(own).algorithm)
with dwell.accelerate():
    print(dwell.report(Stock(regParam=0.1).fit(data)).solver)
"""

DROPPED = IMPORTS + """
spark.conf.set("spark.connect.session.connectML.mlCache.memoryControl.enabled", "false")
def said(model):
    # A server forgets the models of a client in this way, and those of a session that ends.
    reference = model._java_obj if isinstance(model._java_obj, str) else model._java_obj.ref_id
    spark.client._delete_ml_cache([reference])
    try:
        print(model.coefficients)
    except Exception as error:
        return type(error).__name__, str(error).replace(reference, "#").split("JVM stacktrace")[0]
ours, stock = LogisticRegression(regParam=0.1).fit(data), Stock(regParam=0.1).fit(data)
refusal = said(ours)
print(refusal == said(stock), refusal[0], dwell.report(ours).solver)
"""

MOVED = IMPORTS + """
spark.conf.set("spark.connect.session.connectML.mlCache.memoryControl.enabled", "true")
model = LogisticRegression(regParam=0.1, threshold=0.4).fit(data)
before = model.coefficients, model.intercept, model.summary.accuracy, model.transform(data).select("prediction").collect()
told = dwell.report(model)
print(any(model._java_obj.ref_id in line for line in spark.client._get_ml_cache_info()))
spark.client._delete_ml_cache([model._java_obj.ref_id], evict_only=True)
print(any(model._java_obj.ref_id in line for line in spark.client._get_ml_cache_info()))
print(model.coefficients == before[0], model.intercept == before[1], model.getThreshold())
print(model.summary.accuracy == before[2], model.transform(data).select("prediction").collect() == before[3])
print(dwell.report(model) == told)
"""

COUNTED = IMPORTS + """
spark.conf.set("spark.connect.session.connectML.mlCache.memoryControl.enabled", "true")
from pyspark.ml.regression import LinearRegression as StockLinear
from dwell.ml.regression import LinearRegression
for ours, stock in (LogisticRegression, Stock), (LinearRegression, StockLinear):
    sizes = []
    for kind in ours, stock:
        model = kind(regParam=0.1).fit(data)
        sizes.append(spark.client._query_model_size(model._java_obj.ref_id))
        model.summary.totalIterations
        sizes.append(spark.client._query_model_size(model._java_obj.ref_id))
    print(len(set(sizes)), sizes[0] > 0)
"""


class ServerTest(unittest.TestCase):
    def lines(self, code):
        return server.client(server.shared(), code).splitlines()

    def test_a_session_with_a_class_loader_of_its_own(self):
        with tempfile.TemporaryDirectory() as directory:
            jar = pathlib.Path(directory, "users-own.jar")
            with zipfile.ZipFile(jar, "w") as archive:
                archive.writestr("users/own.txt", "own")
            self.assertEqual(self.lines("JAR = %r\n" % str(jar) + ARTIFACT), ["native cocoa", "native"])

    def test_what_the_server_has_dropped_is_refused_in_sparks_words(self):
        (line,) = self.lines(DROPPED)
        self.assertRegex(line, r"^True \w+ native$")

    @unittest.skipIf(server.VERSION < (4, 1), "its server keeps all models in memory")
    def test_what_the_server_has_moved_to_disk_comes_back(self):
        self.assertEqual(self.lines(MOVED), ["True", "False", "True True 0.4", "True True", "True"])

    @unittest.skipIf(server.VERSION < (4, 1), "its server does not count")
    def test_a_summary_is_counted_as_sparks_is(self):
        self.assertEqual(self.lines(COUNTED), ["1 True", "1 True"])


if __name__ == "__main__":
    unittest.main()
