"""The counting of tests: a group that fails, or runs nothing, must never look like a group that passed."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD_SUPPORT = pathlib.Path(__file__).resolve().parents[2] / "build-support"
sys.path.insert(0, str(BUILD_SUPPORT))

import run_group  # noqa: E402  (the path has to be set first)

CARGO = """\
test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.50s
test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
"""
JUNIT = """\
[         2 containers found      ]
[         0 containers failed     ]
[        40 tests found           ]
[         3 tests skipped         ]
[         1 tests aborted         ]
[        35 tests successful      ]
[         1 tests failed          ]
"""
SCALATEST = """\
Total number of tests run: 9
Suites: completed 4, aborted 1
Tests: succeeded 7, failed 2, canceled 1, ignored 0, pending 0
"""
UNITTEST = """\
Ran 10 tests in 0.321s

FAILED (failures=1, errors=2, skipped=3)
"""


class Formats(unittest.TestCase):
    """The counts in the output of each kind of command."""

    def check(self, form, text, status, passed, failed, skipped):
        numbers, reasons = run_group.judge(text.splitlines(), status, False, form, [])
        self.assertEqual((passed, failed, skipped), (numbers["passed"], numbers["failed"], numbers["skipped"]), reasons)

    def test_cargo_sums_its_binaries(self):
        self.check("cargo", CARGO, 101, 15, 2, 1)

    def test_junit(self):
        self.check("junit", JUNIT, 1, 35, 1, 4)

    def test_scalatest_counts_an_aborted_suite_as_a_failure(self):
        self.check("scalatest", SCALATEST, 1, 7, 3, 1)

    def test_unittest(self):
        self.check("unittest", UNITTEST, 1, 4, 3, 3)
        self.check("unittest", "Ran 2 tests in 0.1s\n\nOK\n", 0, 2, 0, 0)
        self.check("unittest", "Ran 2 tests in 0.1s\n\nOK (skipped=1)\n", 0, 1, 0, 1)

    def test_counts_of_scripts_are_added(self):
        self.check("counts", "3 passed, 0 failed\nother\n4 passed, 1 failed\n", 1, 7, 1, 0)

    def test_command(self):
        self.check("command", "", 0, 1, 0, 0)
        self.check("command", "", 1, 0, 1, 0)


class Judgement(unittest.TestCase):
    """The reasons for which a group fails as a whole."""

    def test_no_test_is_a_failure(self):
        for form in ("cargo", "junit", "scalatest", "unittest", "counts"):
            numbers, reasons = run_group.judge(["nothing to see"], 0, False, form, [])
            self.assertEqual((1, ["no test ran"]), (numbers["failed"], reasons))

    def test_exit_status_counts_where_no_failure_was_reported(self):
        numbers, reasons = run_group.judge(["5 passed, 0 failed"], 134, False, "counts", [])
        self.assertEqual((5, 1, ["exit status 134"]), (numbers["passed"], numbers["failed"], reasons))

    def test_forbidden_line(self):
        numbers, reasons = run_group.judge(["WARNING in native method: x", "2 passed, 0 failed"], 0, False, "counts", ["WARNING in native"])
        self.assertEqual((2, 1), (numbers["passed"], numbers["failed"]))
        self.assertIn("WARNING in native method: x", reasons[0])

    def test_expired(self):
        for form in ("counts", "command"):
            numbers, _ = run_group.judge(["2 passed, 0 failed"], 0, True, form, [])
            self.assertEqual(1, numbers["failed"])


class Failures(unittest.TestCase):
    """The lines that name failed tests."""

    def test_each_format_names_what_failed(self):
        for text in ("FAILED  a name: java.lang.AssertionError: why\n          a.b.C.d(C.scala:1)", "test lda::bound ... FAILED",
                     "- sums agree *** FAILED ***\n  1 was not equal to 2 (SumSuite.scala:3)", "FAIL: test_x (counts_test.Total.test_x)",
                     "dwell.SumSuite *** ABORTED ***", "|  |  +-- sums() [X] expected: <1> but was: <2>",
                     "│  │  ├─ sums() ✘ expected: <1> but was: <2>"):
            with self.subTest(text):
                self.assertEqual([text], run_group.failures(["ok      before", *text.splitlines(), "ok      after"]))

    def test_nothing_else(self):
        self.assertEqual([], run_group.failures(["ok      FAILED  x", "WARN TaskSetManager: FAILED", "test a ... ok", "  indented"]))


class Total(unittest.TestCase):
    """The table and the closing line."""

    def total(self, directory, *names):
        return subprocess.run([sys.executable, BUILD_SUPPORT / "total.py", directory, *names], stdout=subprocess.PIPE, text=True,
                              env={"PATH": ""})

    def test_sum_and_groups_that_did_not_run(self):
        with tempfile.TemporaryDirectory() as directory:
            group = [sys.executable, str(BUILD_SUPPORT / "run_group.py"), directory]
            for name, count in (("a", "3 passed, 0 failed"), ("b", "4 passed, 0 failed")):
                subprocess.run([*group, name, "counts", "--", "echo", count], check=True, stdout=subprocess.DEVNULL)
            done = self.total(directory, "a", "b")
            self.assertEqual((0, "7 passed, 0 failed"), (done.returncode, done.stdout.splitlines()[-1]))
            missing = self.total(directory, "a", "c", "b")
            self.assertEqual((1, "7 passed, 1 failed"), (missing.returncode, missing.stdout.splitlines()[-1]))

    def test_what_failed_is_repeated(self):
        with tempfile.TemporaryDirectory() as directory:
            output = "FAILED  sums: 1 is not 2\n          at a place\n3 passed, 1 failed"
            subprocess.run([sys.executable, str(BUILD_SUPPORT / "run_group.py"), directory, "a", "counts", "--", "printf", output],
                           check=True, stdout=subprocess.DEVNULL)
            done = self.total(directory, "a")
            self.assertEqual((1, "3 passed, 1 failed"), (done.returncode, done.stdout.splitlines()[-1]))
            self.assertIn("a: FAILED  sums: 1 is not 2\n          at a place\n", done.stdout)

    def test_a_group_that_hangs_is_stopped_with_its_children(self):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([sys.executable, BUILD_SUPPORT / "run_group.py", directory, "slow", "command", "--timeout", "0.5", "--",
                            "sh", "-c", "sleep 60 & sleep 60"], check=True, timeout=30)
            result = json.loads((pathlib.Path(directory) / "slow.json").read_text())
            self.assertEqual((0, 1), (result["passed"], result["failed"]))


if __name__ == "__main__":
    unittest.main()
