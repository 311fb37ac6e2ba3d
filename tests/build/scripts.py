"""What tests of the scripts in build-support share."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD_SUPPORT = ROOT / "build-support"
sys.path.insert(0, str(BUILD_SUPPORT))

# Seconds for what has to happen at all.
PATIENCE = 30


class ScriptTest(unittest.TestCase):
    """Runs scripts in a folder of its own, which is also that of temporary files."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name).resolve()

    def environment(self, **more):
        """Without what the build sets, which may run these tests."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("DWELL_")}
        return {**own, "TMPDIR": str(self.directory), **more}

    def script(self, path, *arguments, **environment):
        return subprocess.run([sys.executable, str(path), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=2 * PATIENCE, env=self.environment(**environment))

    def start(self, command, **environment):
        """Starts a command that runs while the test goes on."""
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment(**environment))
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        """Ends a command that a test has left; it ends what it started."""
        process.terminate()
        process.wait(PATIENCE)
        process.stdout.close()
        process.stderr.close()

    def until(self, happened):
        end = time.monotonic() + PATIENCE
        while not happened():
            self.assertLess(time.monotonic(), end, "it does not happen")
            time.sleep(0.05)


class GroupTest(ScriptTest):
    """Runs groups and adds them up."""

    def group(self, *arguments):
        return [sys.executable, str(BUILD_SUPPORT / "run_group.py"), str(self.directory), *arguments]

    def run_group(self, *arguments):
        done = self.script(BUILD_SUPPORT / "run_group.py", str(self.directory), *arguments)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return done.stdout

    def total(self, *names, **environment):
        return self.script(BUILD_SUPPORT / "total.py", str(self.directory), *names, **environment)

    def result(self, name):
        return json.loads((self.directory / (name + ".json")).read_text())


class Witness:
    """Knows whether processes run: they hold a pipe open."""

    def __init__(self, test):
        self.test = test
        self.path = test.directory / "witness"
        os.mkfifo(self.path)

    def wait_for_start(self):
        """The processes write a line to the pipe, and keep it open."""
        self.pipe = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self.test.addCleanup(os.close, self.pipe)
        self.test.until(lambda: self.read() == b"runs\n")

    def wait_for_end(self):
        self.test.until(lambda: self.read() == b"")

    def read(self):
        """What is in the pipe: nothing if no process holds it open, None if one does."""
        try:
            return os.read(self.pipe, 100)
        except BlockingIOError:
            return None
