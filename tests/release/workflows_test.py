"""The workflows, by actionlint."""

import pathlib
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7"


@unittest.skipIf(shutil.which("go") is None, "there is no Go, which builds actionlint")
class WorkflowsTest(unittest.TestCase):
    def lint(self, *files):
        return subprocess.run(["go", "run", ACTIONLINT, "-no-color", *map(str, files)], cwd=ROOT, capture_output=True, text=True)

    def test_workflows_are_valid(self):
        files = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
        self.assertEqual(["advisories.yml", "check.yml", "release.yml"], [file.name for file in files])
        done = self.lint(*files)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
