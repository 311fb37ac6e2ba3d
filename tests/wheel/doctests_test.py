"""pyspark's own examples with and without the switch: those that print something else with it are those that docs/limits.md lists.

Several minutes a module, so in checkLong: `./gradlew wheelTest -Plong -Pmatching=tuning`.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import package_test

LIMITS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "limits.md"
# As doctest tells of a failure: the object whose documentation it is, and the lines of the example.
FAILURE = re.compile(r'^File ".*", line \d+, in __main__\.(\S+)\nFailed example:\n((?:    .*\n)+)', re.MULTILINE)


def listed(module):
    """The class and the code of each example of a module that the document lists."""
    section = LIMITS.read_text("utf-8").split("\n## pyspark's own examples\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `%s\.(\w+)` \| (.*?) \|" % module, section, re.MULTILINE)
    return {(name, code) for name, examples in rows for code in re.findall("`([^`]+)`", examples)}


def run(module, switch):
    """What the `__main__` of a module of pyspark prints: it runs the examples in a session that it makes."""
    with tempfile.TemporaryDirectory() as directory:
        # They read Spark's sample data from where they run.
        pathlib.Path(directory, "data").symlink_to(package_test.SPARK / "data")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(package_test.PATHS), "PYSPARK_PYTHON": sys.executable}
        return subprocess.run([sys.executable, *switch, "-m", "pyspark.ml." + module], env=environment, cwd=directory, text=True, capture_output=True)


def failures(done):
    return {(name, code.strip()) for name, code in FAILURE.findall(done.stdout)}


class DoctestsTest(unittest.TestCase):
    def check(self, module):
        stock, native = run(module, []), run(module, ["-m", "dwell"])
        self.assertIn("train by native code", native.stderr)
        # What fails without the switch fails by the versions of Python and NumPy.
        self.assertEqual(failures(native), failures(stock) | listed(module), native.stdout[-5000:] + native.stderr[-2000:])
        self.assertEqual(native.returncode != 0, bool(failures(native)), native.stderr[-2000:])

    def test_classification(self):
        self.check("classification")

    def test_regression(self):
        self.check("regression")

    def test_clustering(self):
        self.check("clustering")

    def test_tuning(self):
        self.check("tuning")


def load_tests(loader, tests, pattern):
    if os.environ.get("DWELL_LONG"):
        return tests
    print("%d more in checkLong" % tests.countTestCases(), flush=True)
    return unittest.TestSuite()


if __name__ == "__main__":
    unittest.main()
