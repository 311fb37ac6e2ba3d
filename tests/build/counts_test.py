"""The counting of tests: a group that fails, or runs nothing, must never look like a group that passed."""

import json
import time
import unittest

from scripts import GroupTest

import run_group

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

    def test_unittest_has_other_counts_whose_names_end_alike(self):
        text = "Ran 9 tests in 0.1s\n\nFAILED (failures=2, errors=1, skipped=1, expected failures=5, unexpected successes=1)\n"
        self.check("unittest", text, 1, 4, 4, 1)

    def test_command(self):
        self.check("command", "", 0, 1, 0, 0)
        self.check("command", "", 1, 0, 1, 0)


# What each format prints of two tests that pass, two that fail and one that is left out.
STOPPED = {
    "cargo": """\
test a::sums ... ok
test b - should panic ... ok
test c ... FAILED
test d ... FAILED
test e ... ignored, takes long
test f has been running for over 60 seconds
""",
    "junit": """\
├─ JUnit Jupiter
│  ├─ Demo
│  │  ├─ good()
│  │  │   uniqueId: [engine:junit-jupiter]/[class:a.Demo]/[method:good()]
│  │  │     status: ✔ SUCCESSFUL
| | |  uniqueId: [engine:junit-jupiter]/[class:a.Demo]/[method:ascii()]
printed| | |    status: [OK] SUCCESSFUL
│  │  │   uniqueId: [engine:junit-jupiter]/[class:a.Demo]/[method:bad()]
│  │  │     caught: org.opentest4j.AssertionFailedError: 1 is not 2
│  │  │               \tat a.Demo.bad(Demo.java:7)
│  │  │     status: ✘ FAILED
| | |  uniqueId: [engine:junit-jupiter]/[class:a.Demo]/[method:worse()]
| | |    status: [X] FAILED
│  │  │   uniqueId: [engine:junit-jupiter]/[class:a.Demo]/[method:off()]
│  │  │     status: ↷ SKIPPED
│  └─ Demo finished after 83 ms.
│  │  │   uniqueId: [engine:junit-jupiter]/[class:a.Demo]/[method:runs()]
""",
    "scalatest": """\
SumSuite:
- sums agree (53 milliseconds)
- sums (of squares) agree
- sums differ *** FAILED *** (1 second, 20 milliseconds)
  1 was not equal to 2 (SumSuite.scala:3)
- other sums differ *** FAILED ***
- sums later !!! IGNORED !!!
""",
    "unittest": """\
test_a (x_test.A.test_a) ... ok
test_b (x_test.A.test_b)
Words of a test ... and more. ... printed
ok
test_c (x_test.A.test_c) ... FAIL
test_d (x_test.A.test_d)
Words. ... ERROR
test_e (x_test.A.test_e) ... skipped 'why'
ok
test_f (x_test.A.test_f) ... """,
    "counts": """\
ok      one: a detail (0.1 s)
ok      two (kept)
FAILED  three: why
          at a place
FAILED  four: why
""",
}


class Stopped(unittest.TestCase):
    """Groups that end before they report their counts."""

    def test_the_cases_that_ended_count(self):
        for form, text in STOPPED.items():
            for status, stopped in ((-9, "was stopped"), (1, None)):
                with self.subTest(form, stopped=stopped):
                    numbers, reasons = run_group.judge(text.splitlines(), status, stopped, form, [])
                    left_out = 0 if form == "counts" else 1
                    self.assertEqual((2, 2 + len(reasons), left_out), (numbers["passed"], numbers["failed"], numbers["skipped"]))
                    self.assertEqual([stopped] if stopped else [], reasons)

    def test_cases_count_beside_counts_that_lack_them(self):
        text = "test a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored;\n\ntest b ... ok\ntest c ... ok\n"
        numbers, reasons = run_group.judge(text.splitlines(), 101, None, "cargo", [])
        self.assertEqual((3, 1, ["exit status 101"]), (numbers["passed"], numbers["failed"], reasons))

    def test_counts_that_have_more_stay(self):
        numbers, _ = run_group.judge(["5 passed, 0 failed", "ok      one"], -9, "was stopped", "counts", [])
        self.assertEqual(5, numbers["passed"])

    def test_failed_cases_are_named(self):
        for form, names in (("cargo", ["c", "d"]), ("unittest", ["test_c (x_test.A.test_c)", "test_d (x_test.A.test_d)"])):
            told = run_group.told(STOPPED[form].splitlines(), {"failed": 3}, "was stopped", form)
            self.assertEqual(["FAILED  " + name for name in names], told)
        told = run_group.told(STOPPED["junit"].splitlines(), {"failed": 3}, "was stopped", "junit")
        self.assertEqual("uniqueId: [engine:junit-jupiter]/[class:a.Demo]/[method:bad()]\n"
                         "caught: org.opentest4j.AssertionFailedError: 1 is not 2\nat a.Demo.bad(Demo.java:7)", told[0])


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


class Groups(GroupTest):
    """Groups as the build runs them: one after the other, added up at the end."""

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

    def test_a_failed_test_may_be_a_warning(self):
        said = self.run_group("a", "counts", "--warn", "--", "printf", "FAILED  lines: 2 too many\n3 passed, 1 failed\n")
        self.assertIn("3 ok    0 not ok", said)
        self.assertIn("1 warnings", said)
        done = self.total("a")
        self.assertEqual((0, "3 passed, 0 failed"), (done.returncode, done.stdout.splitlines()[-1]))
        self.assertIn("FAILED  lines: 2 too many", done.stdout)

    def test_a_group_that_lacks_something_has_neither_passed_nor_failed(self):
        said = self.run_group("a", "counts", "--lacks", "there is no emulator", "--", "echo", "3 passed, 0 failed")
        self.assertRegex(said, r"^a +0 ok +0 not ok .* did not run: there is no emulator\n$")
        self.run_group("b", "counts", "--", "echo", "4 passed, 0 failed")
        done = self.total("a", "b", DWELL_STARTED="1")
        self.assertEqual((0, "4 passed, 0 failed"), (done.returncode, done.stdout.splitlines()[-1]))
        self.assertRegex(done.stdout, r"\na +0 +0 .* did not run: there is no emulator\n")
        self.assertIn("1 of 2 ran", done.stdout)
        self.assertIn("\nNothing ran.\n", self.total("a", "c").stdout)

    def test_a_command_that_failed_shows_its_last_lines(self):
        self.run_group("a", "command", "--", "sh", "-c", "echo badly formatted; false")
        self.assertIn("badly formatted", self.total("a").stdout)

    def test_groups_have_a_table(self):
        for name in "early", "late":
            self.run_group(name, "counts", "--", "echo", "3 passed, 0 failed")
        early = dict(self.result("early"), began=1000.0, seconds=125.4, cpu=250.2)
        (self.directory / "early.json").write_text(json.dumps(early))
        done = self.total("late", "early", "none", DWELL_STARTED=str(int(1000 * (time.time() - 600))))
        table = (self.directory / "table.txt").read_text()
        self.assertIn(table, done.stdout)
        self.assertRegex(table.splitlines()[1], r"^early +3 +0 +2:05 +250  kept from an earlier run$")
        self.assertRegex(table, r"\nlate +3 +0 +0:0\d +\d+\nnone +0 +1 +0:00 +0  did not run\n1 of 3 ran +0:0\d +\d+\nelapsed 10:\d\d with builds\n$")
        self.assertNotIn("elapsed", self.total("late", "early").stdout)
        self.assertIn("\n2 of 2 ran ", self.total("late", "early").stdout)
        self.assertIn("Nothing ran: all results are kept", self.total("early", "late", DWELL_STARTED=str(int(1000 * (time.time() + 600)))).stdout)

    def test_one_group_has_no_table(self):
        self.run_group("a", "counts", "--", "echo", "3 passed, 0 failed")
        self.assertNotIn("CPU", self.total("a").stdout)
        self.assertFalse((self.directory / "table.txt").exists())

    def test_flaky_tests_are_named_last(self):
        self.run_group("a", "counts", "--", "printf", "flaky   sums: 1 is not 2: why\nok      sums\n1 passed, 0 failed\n")
        self.run_group("b", "command", "--", "sh", "-c", "echo 'flaky   others: x'; false")
        self.assertEqual((1, 0, ["sums"]), tuple(self.result("a")[name] for name in ("passed", "failed", "flaky")))
        done = self.total("a", "b")
        self.assertEqual(["flaky: sums (a)", "flaky: others (b)", "1 passed, 1 failed"], done.stdout.splitlines()[-3:])


if __name__ == "__main__":
    unittest.main()
