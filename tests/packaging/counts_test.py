"""The counting of tests: a group that fails, or runs nothing, must never look like a group that passed."""

import json
import os
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
        numbers, reasons = run_group.judge(text.splitlines(), status, None, form, [])
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

    def test_counts_of_a_script_that_was_stopped_are_those_of_its_lines(self):
        text = "ok      one (0.1 s)\nFAILED  two: why\n          at a place\nok      three\n"
        numbers, reasons = run_group.judge(text.splitlines(), -9, "took too long", "counts", [])
        self.assertEqual((2, 2, ["took too long"]), (numbers["passed"], numbers["failed"], reasons))

    def test_cases_that_are_left_to_another_task_are_counted_apart_and_added(self):
        numbers, _ = run_group.judge(["7 more in checkLong", "13 more in checkLong", *SCALATEST.splitlines()], 0, None, "scalatest", [])
        self.assertEqual(20, numbers["later"])
        numbers, _ = run_group.judge(["13 more in checkLong", "3 passed, 0 failed"], 0, None, "counts", [])
        self.assertEqual((3, 0, 13), (numbers["passed"], numbers["failed"], numbers["later"]))

    def test_command(self):
        self.check("command", "", 0, 1, 0, 0)
        self.check("command", "", 1, 0, 1, 0)


class Judgement(unittest.TestCase):
    """The reasons for which a group fails as a whole."""

    def test_no_test_is_a_failure(self):
        for form in ("cargo", "junit", "scalatest", "unittest", "counts"):
            numbers, reasons = run_group.judge(["nothing to see"], 0, None, form, [])
            self.assertEqual((1, ["no test ran"]), (numbers["failed"], reasons))

    def test_exit_status_counts_where_no_failure_was_reported(self):
        numbers, reasons = run_group.judge(["5 passed, 0 failed"], 134, None, "counts", [])
        self.assertEqual((5, 1, ["exit status 134"]), (numbers["passed"], numbers["failed"], reasons))

    def test_forbidden_line(self):
        numbers, reasons = run_group.judge(["WARNING in native method: x", "2 passed, 0 failed"], 0, None, "counts", ["WARNING in native"])
        self.assertEqual((2, 1), (numbers["passed"], numbers["failed"]))
        self.assertIn("WARNING in native method: x", reasons[0])

    def test_expired(self):
        for form in ("counts", "command"):
            numbers, reasons = run_group.judge(["2 passed, 0 failed"], 0, "took too long", form, [])
            self.assertEqual((1, ["took too long"]), (numbers["failed"], reasons))


class Failures(unittest.TestCase):
    """The lines that name failed tests."""

    def test_each_format_names_what_failed(self):
        for form, text in (("counts", "FAILED  a name: java.lang.AssertionError: why\n          a.b.C.d(C.scala:1)"),
                           ("scalatest", "- sums agree *** FAILED ***\n  1 was not equal to 2 (SumSuite.scala:3)"),
                           ("scalatest", "dwell.SumSuite *** ABORTED ***"),
                           ("junit", "|  |  +-- sums() [X] expected: <1> but was: <2>"),
                           ("junit", "│  │  ├─ sums() ✘ expected: <1> but was: <2>")):
            with self.subTest(text):
                self.assertEqual([text], run_group.failures(["ok      before", *text.splitlines(), "ok      after"], form))

    def test_lines_that_are_not_indented_tell_why_in_cargo_and_unittest(self):
        cargo = "test a ... ok\n\nfailures:\n\n---- b stdout ----\n\nthread 'b' panicked at b.rs:1:\n1 is not 2\n\n\nfailures:\n    b\n"
        self.assertEqual(["---- b stdout ----\nthread 'b' panicked at b.rs:1:\n1 is not 2"], run_group.failures(cargo.splitlines(), "cargo"))
        double, single = "=" * 70, "-" * 70
        test = "\n".join([double, "FAIL: test_x (a.B.test_x)", single, "Traceback:", "  File", "AssertionError: 1 != 2", "", single, "Ran 1 test"])
        self.assertEqual(["FAIL: test_x (a.B.test_x)\nTraceback:\n  File\nAssertionError: 1 != 2"],
                         run_group.failures(test.splitlines(), "unittest"))

    def test_nothing_else(self):
        for form in run_group.FORMATS:
            self.assertEqual([], run_group.failures(["ok      FAILED  x", "WARN TaskSetManager: FAILED", "test a ... ok", "  indented"], form))


class Groups(unittest.TestCase):
    """Groups as the build runs them: one after the other, added up at the end."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)

    def script(self, name, *arguments, **environment):
        return subprocess.run([sys.executable, str(BUILD_SUPPORT / name), *arguments], stdout=subprocess.PIPE, text=True, timeout=60,
                              env={**os.environ, "DWELL_TOTAL_PRINTED_BY": "", "DWELL_LOG_LINES": "0", **environment})

    def run_group(self, *arguments):
        done = self.script("run_group.py", str(self.directory), *arguments)
        self.assertEqual(0, done.returncode)
        return done.stdout

    def total(self, *names, **environment):
        return self.script("total.py", str(self.directory), *names, **environment)

    def result(self, name):
        return json.loads((self.directory / (name + ".json")).read_text())

    def test_sum_and_groups_that_did_not_run(self):
        for name, count in (("a", "3 passed, 0 failed"), ("b", "4 passed, 0 failed")):
            self.run_group(name, "counts", "--", "echo", count)
        done = self.total("a", "b")
        self.assertEqual((0, "7 passed, 0 failed"), (done.returncode, done.stdout.splitlines()[-1]))
        missing = self.total("a", "c", "b")
        self.assertEqual((1, "7 passed, 1 failed"), (missing.returncode, missing.stdout.splitlines()[-1]))

    def test_a_group_has_one_line_and_its_output_is_in_a_file(self):
        printed = self.run_group("a", "counts", "--", "printf", "much to say\n13 more in checkLong\n3 passed, 0 failed\n")
        self.assertRegex(printed, r"^a +3 ok +0 not ok +\d+\.\d s, 13 more in checkLong\n$")
        self.assertIn("much to say", (self.directory / "a.log").read_text())
        self.assertNotIn("much to say", self.total("a").stdout)

    def test_what_failed_is_repeated(self):
        self.run_group("a", "counts", "--", "printf", "one\nFAILED  sums: 1 is not 2\n          at a place\n3 passed, 1 failed\n")
        done = self.total("a")
        self.assertEqual((1, "3 passed, 1 failed"), (done.returncode, done.stdout.splitlines()[-1]))
        self.assertIn("FAILED  sums: 1 is not 2\n          at a place\n", done.stdout)
        self.assertNotIn("one", done.stdout)
        self.assertIn("one\nFAILED", self.total("a", DWELL_LOG_LINES="60").stdout)

    def test_a_command_that_failed_shows_its_last_lines(self):
        self.run_group("a", "command", "--", "sh", "-c", "echo badly formatted; false")
        self.assertIn("badly formatted", self.total("a").stdout)

    def test_a_group_that_hangs_is_stopped_with_its_children(self):
        self.run_group("slow", "command", "--timeout", "0.5", "--", "sh", "-c", "sleep 60 & sleep 60")
        result = self.result("slow")
        self.assertEqual((0, 1, ["took too long and was stopped"]), (result["passed"], result["failed"], result["reasons"]))


if __name__ == "__main__":
    unittest.main()
