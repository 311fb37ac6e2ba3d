"""What the build takes from the Maven repository: gradle/artifacts.gradle, in a small build with a repository of its own."""

import hashlib
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from published import ROOT

NAMES = ["right", "changed", "unknown"]
BUILD = """
configurations { right; changed; unknown }
repositories { maven { url = uri('repository') } }
dependencies { right 'g:right:1'; changed 'g:changed:1'; unknown 'g:unknown:1' }
configurations.each { used -> tasks.create(used.name).doLast { println "used ${used.singleFile.name}" } }
apply from: '%s'
"""
POM = """<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>%s</artifactId><version>1</version></project>"""


@unittest.skipIf(shutil.which("gradle") is None, "gradlew would install Gradle")
class ArtifactsTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name).resolve()
        self.pinned = self.directory / "gradle" / "artifacts.sha256"
        self.pinned.parent.mkdir()
        (self.directory / "settings.gradle").write_text("rootProject.name = 'small'\n")
        (self.directory / "build.gradle").write_text(BUILD % (ROOT / "gradle" / "artifacts.gradle"))
        for name in NAMES:
            self.jar(name).parent.mkdir(parents=True)
            self.jar(name).with_suffix(".pom").write_text(POM % name)
            self.jar(name).write_text("these are the bytes of %s" % name)

    def jar(self, name):
        return self.directory / "repository" / "g" / name / "1" / ("%s-1.jar" % name)

    def line(self, name):
        return "%s  g:%s:1:%s-1.jar\n" % (hashlib.sha256(self.jar(name).read_bytes()).hexdigest(), name, name)

    def gradle(self, *arguments):
        return subprocess.run(["gradle", "--no-daemon", "--quiet", "--continue", *arguments], cwd=self.directory, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100)

    def test_a_changed_byte_and_a_file_without_a_line_are_refused(self):
        written = self.gradle("artifactHashes")
        self.assertEqual(0, written.returncode, written.stdout)
        self.assertEqual([self.line(name) for name in sorted(NAMES)], self.pinned.read_text().splitlines(keepends=True))
        self.pinned.write_text(self.line("right") + self.line("changed"))
        self.jar("changed").write_text("these are the Bytes of changed")
        used = self.gradle(*NAMES)
        self.assertEqual(1, used.returncode, used.stdout)
        self.assertIn("used right-1.jar", used.stdout)
        for name in ("changed", "unknown"):
            self.assertIn("g:%s:1:%s-1.jar" % (name, name), used.stdout)
            self.assertNotIn("used %s" % name, used.stdout)
        self.assertIn("./gradlew artifactHashes", used.stdout)

    def test_the_lines_are_sorted_and_have_every_artifact_once(self):
        names = [line.split("  ")[1] for line in (ROOT / "gradle" / "artifacts.sha256").read_text("utf-8").splitlines()]
        self.assertGreater(len(names), 300)
        self.assertEqual(sorted(set(names)), names)


if __name__ == "__main__":
    unittest.main()
