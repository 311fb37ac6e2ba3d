"""The commands of README.md and docs/notebooks.md, as a new user types them: from nothing to a model and its report, in four.

Each case has a virtual environment of its own, in a folder with a link to the build. The names of packages get the versions that are tested.
DWELL_WHEEL is the folder of the wheel, SPARK_HOME the distribution of the server of Spark Connect.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "connect")]

import documents  # noqa: E402  (the path has to be set first)
import server  # noqa: E402

REQUIREMENTS = ROOT / "build-support" / "requirements"


def pinned(package, environment):
    """A package with its version in an environment of the build."""
    return re.search(r"^%s==[\d.]+" % package, (REQUIREMENTS / (environment + ".txt")).read_text("utf-8"), re.MULTILINE).group()


def install(document, package):
    """The command that installs a package with the wheel."""
    lines = [line for block in documents.blocks(document) if block.language == "sh" for line in block.lines]
    (line,) = [line for line in lines if line.startswith("pip install ") and package in line]
    return line


def program(document, part):
    """The first block of Python that has a text."""
    return next(block.code for block in documents.blocks(document) if block.language == "python" and part in block.code)


class CommandsTest(unittest.TestCase):
    def run_commands(self, install, code):
        """The output of the program after the commands before it."""
        commands = ["python3 -m venv first", ". first/bin/activate", install, "python first.py"]
        with tempfile.TemporaryDirectory() as scratch:
            directory = pathlib.Path(scratch)
            (directory / "build").symlink_to(ROOT / "build")
            (directory / "first.py").write_text(code, "utf-8")
            environment = {name: value for name, value in os.environ.items() if name not in ("SPARK_HOME", "PYTHONPATH")}
            done = subprocess.run(["sh", "-e"], input="\n".join(commands), cwd=directory, env=environment, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr[-4000:])
        return done.stdout

    def check_spark(self, environment):
        command = install("README.md", "pyspark[ml]").replace("pyspark[ml]", pinned("pyspark", environment).replace("pyspark", "pyspark[ml]"))
        output = self.run_commands(command, program("README.md", "VectorAssembler"))
        self.assertRegex(output, r"(?m)^LogisticRegression LogisticRegression_\w+: regParam=0.01 .*\nnewton by native code: ")

    def test_spark_3_5_with_scala_2_12(self):
        self.check_spark("spark-3.5.6")

    def test_spark_4_0(self):
        self.check_spark("spark-4.0.5")

    def test_spark_4_3(self):
        self.check_spark("spark-4.3.0")

    def test_a_client_of_spark_connect(self):
        start = next(block.lines[0] for block in documents.blocks("docs/notebooks.md") if "SparkConnectServer" in block.code)
        command = install("docs/notebooks.md", "pyspark-client").replace("pyspark-client", pinned("pyspark-client", "connect"))
        with server.running(shlex.split(start, comments=True)) as url:
            output = self.run_commands(command, program("docs/notebooks.md", "remote").replace("sc://localhost:15002", url))
        self.assertRegex(output, r"(?m)^LogisticRegression LogisticRegression_\w+: .*\nnewton by native code: ")


if __name__ == "__main__":
    unittest.main()
