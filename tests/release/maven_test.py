"""Sources, Scaladoc, sums and signatures of what is published."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELEASE = pathlib.Path(os.environ["DWELL_RELEASE"])
sys.path.insert(0, str(ROOT / "build-support" / "release"))
import maven  # noqa: E402


def names(pattern):
    """The entries of the archive of each Scala that a pattern names."""
    files = sorted((RELEASE / "maven").rglob(pattern))
    return [set(zipfile.ZipFile(file).namelist()) for file in files]


class MavenTest(unittest.TestCase):
    def test_sources_are_those_of_both_languages(self):
        found = names("*-sources.jar")
        self.assertEqual(2, len(found))
        for entries in found:
            self.assertLessEqual({"dwell/ml/regression/LinearRegression.scala", "dwell/jni/NativeInfo.java"}, entries)

    def test_pages_are_of_the_public_classes_alone(self):
        found = names("*-javadoc.jar")
        self.assertEqual(2, len(found))
        for entries in found:
            self.assertLessEqual({"index.html", "dwell/ml/regression/LinearRegression.html", "dwell/report/FitReport.html"}, entries)
            self.assertNotIn("dwell/fit/index.html", entries)

    def test_the_sums_are_those_of_the_files(self):
        lines = (RELEASE / "SHA256SUMS").read_text().splitlines()
        self.assertGreater(len(lines), 10)
        for line in lines:
            digest, _, name = line.partition("  ")
            self.assertEqual(digest, hashlib.sha256((RELEASE / name).read_bytes()).hexdigest(), name)

    @unittest.skipIf(shutil.which("gpg") is None, "there is no gpg")
    def test_a_key_signs_every_file(self):
        with tempfile.TemporaryDirectory() as directory, unittest.mock.patch.dict(os.environ, GNUPGHOME=directory):
            key = "Test <test@example.org>"
            subprocess.run(["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", key, "ed25519", "sign"], check=True, capture_output=True)
            project = {"group": "g", "version": "1"}
            folder = maven.lay_out(pathlib.Path(directory) / "maven", project, "a", {".pom": "<project/>"}, key)
            signed = subprocess.run(["gpg", "--batch", "--verify", str(folder / "a-1.pom.asc"), str(folder / "a-1.pom")], capture_output=True, text=True)
            subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=False)
            self.assertEqual(0, signed.returncode, signed.stderr)


if __name__ == "__main__":
    unittest.main()
