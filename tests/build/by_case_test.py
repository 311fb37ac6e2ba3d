"""Programs whose cases run one by one."""

import json
import os
import re
import sys
import unittest

from scripts import ROOT, ScriptTest, Witness

# Its cases; it notes those that run.
PROGRAM = """
import os, subprocess, sys, time
if sys.argv[2] == "--list":
    print("noise", "cases:", "good", "bad: x", "silent", "crashes", "end of cases", "0 passed, 0 failed", sep="\\n")
    sys.exit()
name = sys.argv[3]
open(sys.argv[1], "a").write(name + "\\n")
open(os.environ["TMPDIR"] + "/left", "x")
if name == "good":
    print("        1.5 GB\\nok      good (0.1 s)\\n1 passed, 0 failed")
elif name == "bad: x":
    print("FAILED  bad: x: why\\n          at a place\\n0 passed, 1 failed")
    sys.exit(1)
elif name == "silent":
    print("some words")
elif name == "crashes":
    print("ok      crashes (0.1 s)\\n1 passed, 0 failed")
    sys.exit(3)
"""
HANGS = """
case "$1" in
--list) printf 'cases:\\nhangs\\nend of cases\\n';;
*) (exec > "$0"; echo runs; sleep 600) & wait;;
esac
"""


class Cases(ScriptTest):
    """Which cases run, and what is said and kept of them."""

    def command(self, key, *options, program=None):
        program = program or [sys.executable, "-c", PROGRAM, str(self.directory / "ran")]
        return ["--results", str(self.directory / "results"), "--key", key, "--disk", "0", *options, "--", *program]

    def by_case(self, *arguments, **options):
        done = self.script(ROOT / "tests" / "cluster" / "by_case.py", *self.command(*arguments, **options))
        self.assertEqual("", done.stderr)
        return done.returncode, re.sub(r"\(\d+\.\d s\)", "(s)", done.stdout)

    def ran(self):
        """The cases that ran since this was asked."""
        path = self.directory / "ran"
        names = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return names

    def stored(self, slug):
        return json.loads((self.directory / "results" / (slug + ".json")).read_text())

    def test_what_passed_is_kept_as_long_as_the_key_is_the_same(self):
        status, output = self.by_case("k1")
        self.assertEqual(["good", "bad: x", "silent", "crashes"], self.ran())
        self.assertEqual((1, ["        1.5 GB", "ok      good (s)", "FAILED  bad: x: why", "          at a place", "some words",
                              "ok      silent (s)", "ok      crashes (s)", "FAILED  crashes: exit status 3", "2 passed, 2 failed"]),
                         (status, output.splitlines()))
        good = self.stored("good")
        self.assertEqual(("good", True, "k1", ["        1.5 GB"]), tuple(good[name] for name in ("name", "passed", "key", "figures")))
        self.assertEqual((False, False), (self.stored("bad-x")["passed"], self.stored("crashes")["passed"]))

        status, output = self.by_case("k1")
        self.assertEqual(["bad: x", "crashes"], self.ran())
        self.assertEqual(["ok      good (kept)", "FAILED  bad: x: why"], output.splitlines()[:2])
        self.assertEqual("2 passed, 2 failed", output.splitlines()[-1])

        self.assertEqual((0, "ok      silent (kept)\n1 passed, 0 failed\n"), self.by_case("k1", "--matching", "lent"))
        self.assertEqual((0, "some words\nok      silent (s)\n1 passed, 0 failed\n"), self.by_case("k2", "--matching", "lent"))
        self.assertEqual((0, "some words\nok      silent (s)\n1 passed, 0 failed\n"), self.by_case("k2", "--matching", "lent", "--again"))
        self.assertEqual(["silent", "silent"], self.ran())

    def test_what_cases_leave_goes(self):
        self.by_case("k", "--matching", "good")
        self.assertEqual(["ran", "results"], sorted(os.listdir(self.directory)))

    def test_a_case_that_takes_too_long_is_stopped_with_its_children(self):
        witness = Witness(self)
        process = self.start([sys.executable, str(ROOT / "tests" / "cluster" / "by_case.py"),
                              *self.command("k", "--minutes", "0.01", program=["sh", "-c", HANGS, str(witness.path)])])
        witness.wait_for_start()
        witness.wait_for_end()
        self.assertEqual("FAILED  hangs: took longer than 0.01 minutes\n0 passed, 1 failed\n", process.communicate()[0])
        self.assertEqual((1, False), (process.returncode, self.stored("hangs")["passed"]))

    def test_no_case_starts_without_its_disk(self):
        status, output = self.by_case("k", "--matching", "good", "--disk", "10000000")
        self.assertRegex(output, r"^FAILED  good: needs 1e\+07 GiB of free disk in \S+, \d+ GiB are free\n0 passed, 1 failed\n$")
        self.assertEqual((1, []), (status, self.ran()))

    def test_programs_that_run_nothing_fail(self):
        status, output = self.by_case("k", program=["sh", "-c", "echo cases:; echo 0 passed, 0 failed"])
        self.assertEqual((1, "0 passed, 1 failed"), (status, output.splitlines()[-1]))
        status, output = self.by_case("k", program=["sh", "-c", "printf 'cases:\\na\\nend of cases\\n0 passed, 0 failed\\n'"])
        self.assertEqual((1, "FAILED  a: the program ran nothing"), (status, output.splitlines()[-2]))


if __name__ == "__main__":
    unittest.main()
