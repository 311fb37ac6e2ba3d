"""Runs the Scala and Python code of README.md and docs/ as it stands, and compares its output with the output that the documents show.

DWELL_JAR is the jar, SPARK_HOME a Spark distribution; the Python that runs this needs NumPy.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from documents import FOR_USERS, blocks, missing, unshown  # noqa: E402

# The `spark`, `train` and `counts` of the texts: three classes along a line, and documents of two kinds of words.
PYTHON_BEFORE = """\
from pyspark.ml.linalg import Vectors
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
train = spark.createDataFrame([(float(i % 3), Vectors.dense(float(i % 3), float(i % 7))) for i in range(300)], ["label", "features"])
"""
SCALA_BEFORE = """\
import org.apache.spark.ml.linalg.Vectors
val train = spark.createDataFrame((0 until 300).map(i => ((i % 3).toDouble, Vectors.dense((i % 3).toDouble, (i % 7).toDouble)))).toDF("label", "features")
val counts = spark.createDataFrame((0 until 100).map(i => Tuple1(Vectors.sparse(20, (0 until 5).map(w => (10 * (i % 2) + (i + w) % 10, 1.0 + w)))))).toDF("features")
"""

# For each document with code: the code to run after its blocks, and expressions that the output must match.
PYTHON = {
    "README.md": ("one = model.stages[1]\n"
                  "print('model:', type(one).__module__, type(one).__name__, one.summary.accuracy, round(fast.summary.r2, 1))",
                  [r"^newton by native code: ",
                   r"^model: pyspark\.ml\.classification LogisticRegressionModel 1\.0 1\.0$"]),
}
SCALA = {
    "README.md": ('println(s"model: ${model.getClass.getName} ${model.summary.r2 > 0.9}")',
                  [r"^model: org\.apache\.spark\.ml\.regression\.LinearRegressionModel true$", r"^linReg_\w+: newton, native solver, \d+ partitions?$"]),
    "docs/fit-report.md": ('println(Seq("report.html", "comparison.html").map(name => name + " " + new java.io.File(name).isFile).mkString("pages: ", ", ", ""))',
                           [r"^pages: report\.html true, comparison\.html true$", r"^ +1 +\S+ +\S+e[-+]\d+ "]),
    "docs/model-averaging.md": ('println(s"model: ${model.getClass.getName} ${model.numClasses} ${dwell.report.FitReport.of(model).solver}")',
                                [r"^model: org\.apache\.spark\.ml\.classification\.LogisticRegressionModel 3 native$"]),
    "docs/topics.md": ('println(s"model: ${topics.getClass.getName} ${topics.describeTopics(1).count()} ${dwell.report.FitReport.of(topics).solver}")',
                       [r"^model: org\.apache\.spark\.ml\.clustering\.LocalLDAModel 50 native$"]),
}


def code_of(language):
    """Blocks by document, each with the `text` block that follows it, if any."""
    found = {}
    for document in FOR_USERS:
        of_document = blocks(document)
        for block, after in zip(of_document, of_document[1:] + [None]):
            # tests/connect has a server for what is told of Spark Connect.
            if block.language == language and not (language == "python" and document == "docs/notebooks.md"):
                found.setdefault(document, []).append((block, after if after is not None and after.language == "text" else None))
    return found


def run(command, directory, stdin=None):
    """Exit status and output of a program of the Spark distribution, with the jar."""
    # As the wheel installs it: the package with the jar in it.
    installed = pathlib.Path(directory, "installed")
    shutil.copytree(pathlib.Path(__file__).resolve().parents[2] / "python/dwell", installed / "dwell", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(os.environ["DWELL_JAR"], installed / "dwell/jars")
    environment = dict(os.environ, PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable, PYTHONPATH=str(installed))
    options = ["--master", "local[2]", "--conf", "spark.ui.enabled=false", "--conf", "spark.ui.showConsoleProgress=false", "--jars", os.environ["DWELL_JAR"]]
    done = subprocess.run([os.path.join(os.environ["SPARK_HOME"], "bin", command[0]), *options, *command[1:]], env=environment, cwd=directory,
                          input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    return done.returncode, done.stdout


def marker(document, place):
    """The line that a script prints at a place of a document."""
    return "---- %s %s" % (document, place)


def part(output, document, begin, end):
    """The output between two markers, or None."""
    found = re.search(r"%s\n(.*?)%s$" % (re.escape(marker(document, begin)), re.escape(marker(document, end))), output, re.MULTILINE | re.DOTALL)
    return None if found is None else found.group(1)


class Code(unittest.TestCase):
    """The code of the documents, in both languages."""

    def judge(self, found, expected, output):
        """Checks that every block ran to its end and printed what its document shows, and that all of them printed what is expected."""
        for document, pairs in found.items():
            for i, (block, shown) in enumerate(pairs):
                printed = part(output, document, i, i + 1)
                self.assertIsNotNone(printed, "%s: this did not run to its end:\n%s\n%s" % (document, block.code, output))
                if shown is not None:
                    self.assertEqual([], missing(shown, printed), "%s shows what is not in\n%s" % (document, printed))
                    self.assertEqual([], unshown(shown, printed), "%s does not show all of\n%s" % (document, printed))
            printed = part(output, document, 0, "end")
            self.assertIsNotNone(printed, output)
            for pattern in expected[document][1]:
                self.assertRegex(printed, "(?m)" + pattern)

    def test_python(self):
        found = code_of("python")
        self.assertEqual(set(PYTHON), set(found), "every document with Python has an expectation")
        script = PYTHON_BEFORE
        for document, pairs in found.items():
            script += "print(%r)\n" % marker(document, 0)
            for i, (block, _) in enumerate(pairs):
                script += "%s\nprint(%r)\n" % (block.code, marker(document, i + 1))
            script += "%s\nprint(%r)\n" % (PYTHON[document][0], marker(document, "end"))
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "documents.py")
            path.write_text(script, encoding="utf-8")
            status, output = run(["spark-submit", str(path)], directory)
        self.assertEqual(0, status, output)
        self.judge(found, PYTHON, output)

    def test_scala(self):
        found = code_of("scala")
        self.assertEqual(set(SCALA), set(found), "every document with Scala has an expectation")
        script = SCALA_BEFORE
        for document, pairs in found.items():
            # A document is one expression: it runs only if all of it compiles, and each block sees the definitions of earlier blocks.
            script += 'locally {\nprintln("%s")\n' % marker(document, 0)
            for i, (block, _) in enumerate(pairs):
                script += '%s\nprintln("%s")\nlocally {\n' % (block.code, marker(document, i + 1))
            script += '%s\nprintln("%s")\n%s}\n' % (SCALA[document][0], marker(document, "end"), "}\n" * len(pairs))
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "documents.scala")
            path.write_text(script, encoding="utf-8")
            # The interpreter always ends with status 0: `judge` finds blocks that did not run to their end.
            _, output = run(["spark-shell", "-I", str(path)], directory, stdin=":quit\n")
        self.judge(found, SCALA, output)


if __name__ == "__main__":
    unittest.main()
