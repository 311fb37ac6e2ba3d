"""Wheel and source distribution, by the rules of a Python index."""

import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

from setuptools._vendor.packaging import metadata

FOLDER = pathlib.Path(os.environ["DWELL_RELEASE"]) / "python"
(WHEEL,) = FOLDER.glob("*.whl")
(SOURCES,) = FOLDER.glob("*.tar.gz")


class PythonTest(unittest.TestCase):
    def test_metadata_are_valid(self):
        with zipfile.ZipFile(WHEEL) as archive:
            text = archive.read(next(name for name in archive.namelist() if name.endswith("/METADATA")))
        found = metadata.Metadata.from_email(text, validate=True)
        self.assertEqual(("dwell-spark", "Apache-2.0", "text/markdown"), (found.name, found.license_expression, found.description_content_type))

    def test_the_source_distribution_makes_the_wheel(self):
        with tempfile.TemporaryDirectory() as directory:
            with tarfile.open(SOURCES) as archive:
                archive.extractall(directory)
            tree = pathlib.Path(directory) / SOURCES.name[: -len(".tar.gz")]
            shutil.rmtree(tree / "dwell_spark.egg-info")
            subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir", directory, str(tree)],
                           check=True)
            (built,) = pathlib.Path(directory).glob("*.whl")
            with zipfile.ZipFile(WHEEL) as published, zipfile.ZipFile(built) as again:
                self.assertEqual(sorted(published.namelist()), sorted(again.namelist()))
                self.assertEqual([], [name for name in published.namelist() if published.read(name) != again.read(name)])


if __name__ == "__main__":
    unittest.main()
