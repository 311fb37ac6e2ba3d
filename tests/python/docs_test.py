"""What README.md tells users of Python, run as it stands there.

DWELL_JAR is the jar, SPARK_HOME a Spark distribution; the Python that runs this has NumPy.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Three classes along a line, as `train` and `spark` of the text.
BEFORE = """\
from pyspark.ml.linalg import Vectors
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
train = spark.createDataFrame([(float(i % 3), Vectors.dense(float(i % 3), float(i % 7))) for i in range(300)], ["label", "features"])
"""

AFTER = """
print("model:", type(model).__module__, type(model).__name__, model.coefficientMatrix.numRows, model.summary.accuracy)
"""


class Readme(unittest.TestCase):
    def test_python(self):
        code = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        self.assertEqual(1, len(code))
        with tempfile.TemporaryDirectory() as directory:
            script = pathlib.Path(directory, "readme.py")
            script.write_text(BEFORE + code[0] + AFTER, encoding="utf-8")
            command = [pathlib.Path(os.environ["SPARK_HOME"], "bin", "spark-submit"), "--master", "local[2]",
                       "--conf", "spark.ui.enabled=false", "--jars", os.environ["DWELL_JAR"], script]
            environment = dict(os.environ, PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable)
            done = subprocess.run(list(map(str, command)), env=environment, cwd=directory, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=300)
        self.assertEqual(0, done.returncode, done.stdout)
        self.assertRegex(done.stdout, r"(?m)^LogisticRegression_\w+: ma-sgd, native solver, \d+ partitions$")
        self.assertRegex(done.stdout, r"(?m)^model: pyspark\.ml\.classification LogisticRegressionModel 3 1\.0$")


if __name__ == "__main__":
    unittest.main()
