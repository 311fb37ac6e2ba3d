"""How groups of tests end: all that they started ends with them, and nothing of them stays."""

import os
import pathlib
import shutil
import sys
import time
import unittest
from unittest import mock

from scripts import GroupTest, Witness

import processes
import run_group

LINUX = sys.platform.startswith("linux")

HANGS = """
import time
def hangs():
    time.sleep(600)
print("ok      one", flush=True)
hangs()
"""

# Programs that are called java, one of them as an executor of Spark: in a session of its own, with its output in its folder.
JAVA = """
import subprocess, sys
java = [sys.argv[1], "-c", "trap 'echo a thread dump' QUIT; while :; do sleep 0.1; done"]
executor = subprocess.Popen(java, cwd=sys.argv[2], stdout=open(sys.argv[2] + "/stdout", "wb"), start_new_session=True)
print("ok      one", flush=True)
subprocess.run(java)
"""

# What it starts runs on in a session of its own, as long as nothing stops it.
LEAVES = """
import subprocess, sys, time
subprocess.Popen(["sh", "-c", "exec > '%s'; echo runs; sleep 600" % sys.argv[1]], start_new_session=True)
print("ok      one", flush=True)
time.sleep(600)
"""


class Limits(GroupTest):
    """Groups and cases that take too long."""

    def test_a_case_that_hangs_says_where(self):
        self.run_group("a", "counts", "--case", "1", "--", sys.executable, "-c", HANGS)
        result = self.result("a")
        self.assertEqual((1, 1, ["a case took longer than 1 s and was stopped; the last that ended: one"]),
                         (result["passed"], result["failed"], result["reasons"]))
        if LINUX:
            self.assertIn(" in hangs", (self.directory / "a.log").read_text())
            self.assertIn(" in hangs", result["failures"][0])

    @unittest.skipUnless(LINUX, "needs /proc")
    def test_jvms_say_where_they_stand(self):
        java = shutil.copy(shutil.which("sh"), self.directory / "java")
        (self.directory / "executor").mkdir()
        self.run_group("a", "counts", "--case", "1", "--", sys.executable, "-c", JAVA, str(java), str(self.directory / "executor"))
        self.assertEqual(2, (self.directory / "a.log").read_text().count("a thread dump\n"))

    def test_each_case_has_the_whole_limit_and_the_first_one_more(self):
        path = self.directory / "log"
        with open(path, "wb", buffering=0) as log, open(path, "rb") as growing:
            patience = run_group.Patience(growing, "scalatest", 10)
            began = patience.since
            self.assertIsNone(patience.late(began + 69))
            log.write(b"- one (3 mi")
            self.assertIsNone(patience.late(began + 69))
            log.write(b"lliseconds)\nother\n")
            self.assertIsNone(patience.late(began + 69.5))
            self.assertIsNone(patience.late(began + 79))
            log.write(b"- two (3 milliseconds)\n")
            self.assertIsNone(patience.late(began + 79.4))
            self.assertIsNone(patience.late(began + 89))
            self.assertIn("the last that ended: two", patience.late(began + 90))
            self.assertIn("none had ended", run_group.Patience(growing, "scalatest", 10).late(time.monotonic() + 71))

    @unittest.skipUnless(LINUX, "needs /proc")
    def test_a_group_that_hangs_is_stopped_with_what_it_started(self):
        witness = Witness(self)
        process = self.start(self.group("a", "counts", "--timeout", "2", "--", sys.executable, "-c", LEAVES, str(witness.path)))
        witness.wait_for_start()
        process.communicate()
        witness.wait_for_end()
        result = self.result("a")
        self.assertEqual((1, 1, ["took too long and was stopped"]), (result["passed"], result["failed"], result["reasons"]))

    def test_a_group_does_not_start_without_its_disk(self):
        self.run_group("a", "counts", "--disk", "10000000", "--scratch", str(self.directory / "s"), "--", "touch", str(self.directory / "ran"))
        result = self.result("a")
        self.assertEqual((0, 1), (result["passed"], result["failed"]))
        self.assertEqual(1, len(result["reasons"]))
        self.assertRegex(result["reasons"][0], r"^needs 1e\+07 GiB of free disk in .*/s, \d+ GiB are free$")
        self.assertFalse((self.directory / "ran").exists())


class Signals(GroupTest):
    """Groups that somebody ends."""

    def setUp(self):
        super().setUp()
        self.witness = Witness(self)
        self.scratch = self.directory / "s"
        self.command = self.group("a", "counts", "--scratch", str(self.scratch), "--", "sh", "-c",
                                  "echo 'ok      one'; touch \"$DWELL_SCRATCH/left\"; (exec > '%s'; echo runs; sleep 600) & wait" % self.witness.path)

    def stopped(self, reason):
        self.witness.wait_for_end()
        self.until((self.directory / "a.json").exists)
        result = self.result("a")
        self.assertEqual((1, 1, [reason]), (result["passed"], result["failed"], result["reasons"]))
        self.assertFalse((self.scratch / "a").exists())

    def test_told_to_stop(self):
        process = self.start(self.command)
        self.witness.wait_for_start()
        process.terminate()
        self.stopped("was stopped")

    def test_the_parent_is_killed(self):
        parent = self.start(["sh", "-c", '"$@"; true', "sh", *self.command])
        self.witness.wait_for_start()
        parent.kill()
        self.stopped("was stopped, since its parent ended")

    @unittest.skipUnless(LINUX, "nothing tells the command")
    def test_killed_itself(self):
        command = self.command[:self.command.index("--")]
        process = self.start(command + ["--", "sh", "-c", "touch \"$DWELL_SCRATCH/left\"; exec > '%s'; echo runs; exec sleep 600" % self.witness.path])
        self.witness.wait_for_start()
        process.kill()
        self.witness.wait_for_end()
        self.assertTrue((self.scratch / "a" / "left").exists())
        # The next run does not see what is left.
        self.run_group("a", "command", "--scratch", str(self.scratch), "--", "sh", "-c", "test ! -e \"$DWELL_SCRATCH/left\"")
        self.assertEqual(1, self.result("a")["passed"])
        self.assertFalse((self.scratch / "a").exists())


class Scratch(GroupTest):
    """The folder for what a group leaves behind."""

    def test_it_goes_however_the_group_ends(self):
        for end, passed in (("exit 0", 1), ("exit 3", 0), ("kill -9 $$", 0)):
            with self.subTest(end):
                self.run_group("a", "command", "--scratch", str(self.directory / "s"), "--", "sh", "-c",
                               'for place in "$DWELL_SCRATCH" "$TMPDIR" "$SPARK_LOCAL_DIRS" "$SPARK_WORKER_DIR"; do '
                               'touch "$place/file" && echo "$place"; done; ' + end)
                self.assertEqual(passed, self.result("a")["passed"])
                places = (self.directory / "a.log").read_text().splitlines()
                self.assertEqual((4, str(self.directory / "s" / "a")), (len(places), places[0]))
                self.assertEqual([], [place for place in places if os.path.lexists(place)])

    @unittest.skipUnless(LINUX, "needs /proc")
    def test_nothing_goes_on_that_would_write_to_it(self):
        witness = Witness(self)
        process = self.start(self.group("a", "command", "--", "sh", "-c", "(exec > '%s'; echo runs; sleep 600) & sleep 0.3" % witness.path))
        witness.wait_for_start()
        witness.wait_for_end()
        process.communicate()
        self.assertEqual(1, self.result("a")["passed"])

    def test_executors_leave_nothing_in_the_distribution(self):
        home = self.directory / "spark"
        for name in "jars", "work":
            (home / name).mkdir(parents=True)
        with mock.patch.dict(os.environ, SPARK_HOME=str(home)), processes.scratch(self.directory / "s") as environment:
            self.assertTrue((pathlib.Path(environment["SPARK_HOME"]) / "jars").samefile(home / "jars"))
            (pathlib.Path(environment["SPARK_HOME"]) / "work").mkdir()
        self.assertEqual(["jars", "work"], sorted(entry.name for entry in home.iterdir()))
        with mock.patch.dict(os.environ, SPARK_HOME=str(self.directory / "none")), processes.scratch(self.directory / "s") as environment:
            self.assertNotIn("SPARK_HOME", environment)

    def test_temporary_files_have_a_short_path(self):
        for longest in 1, 1000:
            with self.subTest(longest), mock.patch.object(processes, "LONGEST", longest):
                folder = self.directory / "s"
                with processes.scratch(folder) as environment:
                    temporary = pathlib.Path(environment["TMPDIR"])
                    self.assertTrue(temporary.is_dir())
                    self.assertEqual(longest == 1000, temporary.parent == folder)
                    self.assertTrue((folder / "tmp").samefile(temporary))
                    # As where a run is killed.
                    shutil.copytree(folder, self.directory / "copy", symlinks=True)
                self.assertFalse(temporary.exists() or folder.exists())
                os.rename(self.directory / "copy", folder)
                temporary.mkdir(exist_ok=True)
                with processes.scratch(folder) as environment:
                    self.assertNotEqual(longest == 1, environment["TMPDIR"] == str(temporary))
                    self.assertFalse(longest == 1 and temporary.exists())


if __name__ == "__main__":
    unittest.main()
