"""The same sources make the same bytes: a second build, in another folder."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELEASE = pathlib.Path(os.environ["DWELL_RELEASE"])
# What the build installs. The copy links the files, which nothing writes: environments, and the compiler for arm64.
INSTALLED = ["python/linker", "python/solvers", "arm64"]


class ReproducibleTest(unittest.TestCase):
    maxDiff = None

    def test_a_build_in_another_folder_makes_the_same_files(self):
        with tempfile.TemporaryDirectory() as directory:
            tree = pathlib.Path(directory) / "another" / "place"
            listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
            for name in listed.stdout.splitlines():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, tree / name)
            installed = [name for name in INSTALLED if (ROOT / "build" / name).is_dir()]
            for name in installed:
                shutil.copytree(ROOT / "build" / name, tree / "build" / name, symlinks=True, copy_function=os.link)
            zig = "-Pzig=%s" % ("true" if os.environ["DWELL_GLIBC"] else "false")
            own = {name: value for name, value in os.environ.items() if not name.startswith("DWELL_")}
            done = subprocess.run(["./gradlew", "--no-daemon", zig, "release", *["-x%s" % pathlib.Path(name).name for name in installed]], cwd=tree, env=own,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
            self.assertMultiLineEqual((RELEASE / "SHA256SUMS").read_text(), (tree / "build" / "release" / "SHA256SUMS").read_text())


if __name__ == "__main__":
    unittest.main()
