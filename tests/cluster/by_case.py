#!/usr/bin/env python3
"""Run the cases of a program one by one, each in a process of its own, and keep the results of those that passed.

    by_case.py --results DIR --key TEXT [--minutes 10] [--matching TEXT] [--disk GIB] [--again] -- COMMAND...

`COMMAND --list` prints the names of the cases between the lines "cases:" and "end of cases"; `COMMAND --case NAME` runs one. A case fails
if its command's exit status is not 0, if it prints a line `FAILED  NAME: why`, if it says that it ran nothing, if it takes longer than
--minutes, or if fewer than --disk GiB are free before it starts.

The result of a case goes to DIR/SLUG.json, with --key and the lines that begin with eight spaces, its figures. A case that passed with the
same key does not run again, unless --again is given. Output is passed through, without the counts of each command: those of all come last.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "build-support"))

import processes  # noqa: E402  (the path has to be set first)

COUNTS = re.compile(r"(\d+) passed, (\d+) failed$")
FIGURE = " " * 8
# Seconds for the last lines.
PATIENCE = 10


class Run:
    """One run of the program: its lines, and why it failed; None: it did not."""

    def __init__(self, watch, command, minutes, shown):
        self.lines = []
        base = os.environ.get("DWELL_SCRATCH") or tempfile.gettempdir()
        # What a case leaves behind takes no room from the next.
        with processes.scratch(pathlib.Path(tempfile.mkdtemp(prefix="case-", dir=base))) as environment:
            process = processes.start(command, stdout=subprocess.PIPE, text=True, errors="replace",
                                      env={**os.environ, "PYTHONFAULTHANDLER": "1", **environment})
            reader = threading.Thread(target=self.read, args=(process.stdout, shown), daemon=True)
            reader.start()
            words = "took longer than %g minutes" % minutes
            self.why = watch.wait(process, processes.limit(60 * minutes, words))
            processes.stop(process, processes.dump(process, sys.stdout.buffer) if self.why == words else ())
            # Hardly anything is left that could write.
            reader.join(PATIENCE)
        if self.why is None and process.returncode != 0:
            self.why = "exit status %d" % process.returncode

    def read(self, output, shown):
        for line in output:
            self.lines.append(line.rstrip("\n"))
            if shown and not COUNTS.match(line):
                sys.stdout.write(line)
                sys.stdout.flush()


class Cases:
    """The cases of a program, and where their results are kept."""

    def __init__(self, command, arguments):
        self.command = command
        self.arguments = arguments
        self.watch = processes.Watch()
        self.place = os.environ.get("DWELL_SCRATCH") or tempfile.gettempdir()

    def names(self):
        """The names of all cases, and why they are not known; None: they are."""
        run = Run(self.watch, self.command + ["--list"], self.arguments.minutes, False)
        if run.why is not None or not {"cases:", "end of cases"} <= set(run.lines):
            print("\n".join(run.lines))
            return [], run.why or "the program does not list its cases"
        return run.lines[run.lines.index("cases:") + 1:run.lines.index("end of cases")], None

    def result(self, name):
        return self.arguments.results / (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:200] + ".json")

    def kept(self, name):
        """Whether the case has passed with this key."""
        path = self.result(name)
        if self.arguments.again or not path.exists():
            return False
        stored = json.loads(path.read_text())
        return stored["passed"] and (stored["name"], stored["key"]) == (name, self.arguments.key)

    def passes(self, name):
        """Runs a case, if it has to, and tells how it ended."""
        if self.kept(name):
            print("ok      %s (kept)" % name, flush=True)
            return True
        lack = processes.lack_of_disk(self.place, self.arguments.disk)
        if lack is not None:
            print("FAILED  %s: %s" % (name, lack), flush=True)
            return False
        start = time.monotonic()
        run = Run(self.watch, self.command + ["--case", name], self.arguments.minutes, True)
        seconds = time.monotonic() - start
        said = {word: any(line == start or line.startswith((start + " ", start + ":")) for line in run.lines)
                for word, start in (("ok", "ok      " + name), ("failed", "FAILED  " + name))}
        counts = [(int(found.group(1)), int(found.group(2))) for found in map(COUNTS.match, run.lines) if found]
        if run.why is None and counts and not any(map(sum, counts)):
            run.why = "the program ran nothing"
        passed = run.why is None and not said["failed"] and not any(failed for _, failed in counts)
        if not passed and not said["failed"]:
            print("FAILED  %s: %s" % (name, run.why or "the program counts a failure"), flush=True)
        elif passed and not said["ok"]:
            print("ok      %s (%.1f s)" % (name, seconds), flush=True)
        self.result(name).write_text(json.dumps({
            "name": name, "passed": passed, "seconds": round(seconds, 1), "key": self.arguments.key,
            "figures": [line for line in run.lines if line.startswith(FIGURE)]}) + "\n")
        return passed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--matching", default="")
    parser.add_argument("--disk", type=float, default=40)
    parser.add_argument("--again", action="store_true")
    own = sys.argv[1:sys.argv.index("--")]
    arguments, command = parser.parse_args(own), sys.argv[len(own) + 2:]
    arguments.results.mkdir(parents=True, exist_ok=True)

    cases = Cases(command, arguments)
    names, unknown = cases.names()
    if unknown is not None:
        print("FAILED  the list of cases: " + unknown)
    passed, failed = 0, int(unknown is not None)
    for name in names:
        if arguments.matching in name:
            if cases.watch.reason() is not None:
                print("FAILED  %s: did not run, since this %s" % (name, cases.watch.why))
                failed += 1
                break
            ended_well = cases.passes(name)
            passed, failed = passed + ended_well, failed + (not ended_well)
    print("%d passed, %d failed" % (passed, failed), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
