"""Sessions that run before Dwell is imported, on every kind of cluster that this machine can have."""

import pathlib
import re
import sys
import tempfile
import unittest

import package_test

STANDALONE = pathlib.Path(__file__).resolve().parents[1] / "cluster" / "standalone.py"

# Fits before and after a session is stopped and started again. No Python workers: they take most of a minute on a busy machine.
PROGRAM = """
import time
import dwell
from dwell.ml.classification import LogisticRegression
from pyspark.ml.classification import LinearSVC
from pyspark.ml.feature import VectorAssembler
from pyspark.sql import SparkSession

def session():
    builder = SparkSession.builder.config(map=OPTIONS)
    return builder.config("spark.ui.enabled", "false").getOrCreate()

def data(spark):
    rows = spark.range(60).selectExpr("cast(id % 2 as double) label", "id % 2 + 0.1 * (id % 5) a", "id % 7 b")
    return VectorAssembler(inputCols=["a", "b"], outputCol="features").transform(rows).repartition(2)

def context(spark):
    return spark.sparkContext._jsc.sc()

def added(spark):
    return context(spark).listJars().size()

spark = session()
rows = data(spark)
assert rows.count() == 60
if IDLE:
    # The driver is a block manager, too.
    while context(spark).getExecutorMemoryStatus().size() > 1:
        time.sleep(0.1)
dwell.accelerate()
print(dwell.report(LinearSVC(regParam=0.1).fit(rows)).solver, added(spark))
other = spark.newSession()
dwell.attach()
own = LogisticRegression(regParam=0.1, algorithm="cocoa", orientation="dual").fit(rows)
print(dwell.report(own).solver, dwell.report(own).algorithm, added(spark))
spark.stop()
# The JVM has the jar, and the next session's executors get it.
spark = session()
print(dwell.report(LinearSVC(regParam=0.1).fit(data(spark))).solver, added(spark))
spark.stop()
"""


def program(idle=False, **options):
    return PROGRAM.replace("OPTIONS", repr(options)).replace("IDLE", repr(idle))


# The jar has no library for the Mac that this driver takes itself for, once its Java runs. Its log is on standard output.
MAC = """
import os
os.dup2(1, 2)
import dwell
from pyspark.ml.classification import LinearSVC
from pyspark.ml.linalg import Vectors
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
spark = dwell.configure(builder).getOrCreate()
for name, value in ("os.name", "Mac OS X"), ("os.arch", "aarch64"):
    spark._jvm.java.lang.System.setProperty(name, value)
dwell.accelerate()
rows = spark.createDataFrame([(float(i % 2), Vectors.dense(i % 2 + 0.1 * (i % 5), i % 7)) for i in range(60)], ["label", "features"])
for _ in range(2):
    print("trained by", dwell.report(LinearSVC(regParam=0.1).fit(rows)).solver)
"""


class SessionsTest(unittest.TestCase):
    def check(self, output):
        # The spark-submit of Spark 3.5 writes what its application says on standard error to standard output.
        told = [line for line in output.splitlines() if line.startswith("native")]
        self.assertEqual(told, ["native 1", "native cocoa 1", "native 1"])

    def run_on(self, master, idle=False, **options):
        code = program(idle, **{"spark.master": master}, **options)
        self.check(package_test.script(code, SPARK_LOCAL_IP="127.0.0.1"))

    def test_a_driver_that_runs_gets_the_jar(self):
        self.run_on("local[2]")

    def test_executors_that_run_get_the_jar(self):
        self.run_on("local-cluster[1,1,1024]")

    def test_executors_that_come_later_get_the_jar(self):
        allocation = {"enabled": "true", "shuffleTracking.enabled": "true", "minExecutors": "0", "executorIdleTimeout": "1s"}
        options = {"spark.dynamicAllocation." + name: value for name, value in allocation.items()}
        # What a shuffle leaves behind keeps an executor for as long.
        options["spark.dynamicAllocation.shuffleTracking.timeout"] = "1s"
        self.run_on("local-cluster[1,1,1024]", idle=True, **options)

    def test_a_system_without_a_library_trains_by_sparks_code_and_says_so_once(self):
        output = package_test.script(MAC, SPARK_LOCAL_IP="127.0.0.1")
        self.assertEqual(re.findall("^trained by (.*)$", output, re.MULTILINE), ["spark", "spark"], output)
        (told,) = [line for line in output.splitlines() if "is trained by Spark's own code" in line]
        self.assertIn("The jar has no native library for darwin/aarch64", told)
        self.assertIn("Later fits of this session do not repeat it.", told)

    def test_a_standalone_cluster_that_runs_gets_the_jar(self):
        with tempfile.TemporaryDirectory() as directory:
            application = pathlib.Path(directory, "application.py")
            application.write_text(program(), "utf-8")
            submit = package_test.SPARK / "bin" / "spark-submit"
            command = [str(STANDALONE), "--cores", "1", str(submit), str(application)]
            self.check(package_test.python(*command, PYSPARK_PYTHON=sys.executable))


if __name__ == "__main__":
    unittest.main()
