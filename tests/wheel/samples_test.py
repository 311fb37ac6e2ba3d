"""The sample pages of docs/samples are what demo/samples.py writes today, but for the numbers."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import package_test

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SAMPLES = ROOT / "docs" / "samples"


def outline(page):
    """What stands in the page's tables, headings and captions, without cells."""
    return re.findall(r"<(?:th|h1|h2|figcaption|summary)>([^<]*?)(?:_[0-9a-f]{12})?</", page)


class SamplesTest(unittest.TestCase):
    def test_the_samples_are_those_of_today(self):
        with tempfile.TemporaryDirectory() as directory:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(package_test.PATHS), "PYSPARK_PYTHON": sys.executable}
            program = [sys.executable, str(ROOT / "demo" / "samples.py"), directory]
            done = subprocess.run(program, env=environment, text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr[-3000:])
            written = {path.name: outline(path.read_text("utf-8")) for path in pathlib.Path(directory).iterdir()}
        kept = {path.name: outline(path.read_text("utf-8")) for path in SAMPLES.iterdir()}
        self.assertEqual(sorted(written), ["elastic-net.html", "hinge.html", "logistic.html", "search.html", "topics.html"])
        self.assertEqual(kept, written, "run demo/samples.py")
        self.assertIn("The search", kept["search.html"])
        self.assertIn("Relative gap against rounds", kept["elastic-net.html"])
        self.assertNotIn("Relative gap against rounds", kept["topics.html"])


if __name__ == "__main__":
    unittest.main()
