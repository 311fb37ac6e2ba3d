"""The public members of the classes that users name, against api.txt beside this file.

A member that goes, or whose signature changes, breaks somebody's program: api.txt shows it in the change that does it. DWELL_WRITE_API=yes
writes the file anew. What Spark's superclasses have is Spark's.
"""

import os
import pathlib
import re
import subprocess
import unittest

import others  # noqa: F401
from published import JAR, JAVA

SNAPSHOT = pathlib.Path(__file__).with_name("api.txt")
CLASSES = [
    "dwell.ml.classification.LinearSVC",
    "dwell.ml.classification.LogisticRegression",
    "dwell.ml.classification.MultilayerPerceptronClassifier",
    "dwell.ml.clustering.LDA",
    "dwell.ml.regression.LinearRegression",
    "dwell.ml.training.FitIterator",
    "dwell.record.FitEnded",
    "dwell.record.FitPhases",
    "dwell.record.FitRequest",
    "dwell.record.FitStarted",
    "dwell.record.HeldBytes",
    "dwell.record.RoundCompleted",
    "dwell.record.RoundRecord",
    "dwell.record.WorkerTime",
    "dwell.report.FitProgress",
    "dwell.report.FitReport",
    "dwell.report.LinearFitReport",
    "dwell.report.NetworkFitReport",
    "dwell.report.SparkFitReport",
    "dwell.report.TopicFitReport",
]

#: What takes or gives types that are not for users, and what the compiler makes of traits, nested classes, case classes and protected members.
HIDDEN = re.compile(r"dwell\.(base|bulk|comm|data|fit|problem|solver|spark)\.|dwell\.ml\.training\.(?!FitIterator)|\$|_setter_|\b(hashCode|equals|toString|canEqual|productArity|productElement\w*|productIterator|productPrefix|logWarning)\(")


def public(name):
    """The members of a class, each a line, sorted."""
    tool = pathlib.Path(JAVA).with_name("javap")
    done = subprocess.run([str(tool), "-public", "-cp", str(JAR), name], capture_output=True, text=True, check=True)
    members = [line.strip() for line in done.stdout.splitlines() if line.startswith("  ")]
    return sorted(member for member in members if not HIDDEN.search(member))


class ApiTest(unittest.TestCase):
    """The interface for Scala and Java."""

    maxDiff = None

    def test_members(self):
        found = "".join("%s\n%s" % (name, "".join("    %s\n" % member for member in public(name))) for name in CLASSES)
        if os.environ.get("DWELL_WRITE_API"):
            SNAPSHOT.write_text(found, encoding="utf-8")
        self.assertMultiLineEqual(SNAPSHOT.read_text(encoding="utf-8"), found)


if __name__ == "__main__":
    unittest.main()
