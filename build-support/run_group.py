#!/usr/bin/env python3
"""Run one group of tests, pass its output on, and record how many of its tests passed and failed.

    run_group.py DIRECTORY NAME FORMAT [--forbid REGEX]... [--timeout SECONDS] -- COMMAND...

FORMAT says how COMMAND reports its counts: see FORMATS. A group fails as a whole (one failure on
top of those counted) if the command's exit status is not 0 although it reported no failure, if it
reported no count or ran nothing, if it took longer than SECONDS, or if a line of its output matches
--forbid. The result goes to DIRECTORY/NAME.json and the output to DIRECTORY/NAME.log. The exit
status is 0 whenever the group could be run: total.py decides, so that a failure in one group does
not keep the others from running. The result keeps the lines that name a failed test, with the
indented lines after them: total.py repeats them at the end, which a log that was cut still shows.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

# For each format: expressions whose groups add up to the number of that name. "command" has none:
# the command itself is the test, and its exit status the result.
FORMATS = {
    "command": {},
    "cargo": {"passed": [r"^test result: \S+ (\d+) passed;"], "failed": [r"^test result: .* (\d+) failed;"],
              "skipped": [r"^test result: .* (\d+) ignored;"]},
    "junit": {"passed": [r"^\[\s*(\d+) tests successful"], "failed": [r"^\[\s*(\d+) (?:tests|containers) failed"],
              "skipped": [r"^\[\s*(\d+) tests (?:skipped|aborted)"]},
    "scalatest": {"passed": [r"^Tests: succeeded (\d+)"], "failed": [r"^Tests: .*failed (\d+)", r"^Suites: .*aborted (\d+)"],
                  "skipped": [r"^Tests: .*(?:canceled) (\d+)"]},
    # Python's unittest counts the tests that ran; its last line has failures, errors and skipped.
    "unittest": {"ran": [r"^Ran (\d+) tests? in "], "failed": [r"^FAILED \(.*failures=(\d+)", r"^FAILED \(.*errors=(\d+)"],
                 "skipped": [r"^(?:OK|FAILED) \(.*skipped=(\d+)"]},
    "counts": {"passed": [r"^(\d+) passed, \d+ failed"], "failed": [r"^\d+ passed, (\d+) failed"]},
}
# Lines that name a failed test.
FAILURE = re.compile(r"^(FAILED  |FAIL: |ERROR: |test .* \.\.\. FAILED|.*\*\*\* (FAILED|ABORTED) \*\*\*|.* (✘|\[X\]) )")
MOST_FAILURES, MOST_DETAILS = 20, 16


def failures(lines):
    """Each line that names a failed test, with the indented lines that follow it."""
    found = []
    for start, line in enumerate(lines):
        if FAILURE.match(line) and len(found) < MOST_FAILURES:
            end = start + 1
            while end < len(lines) and end - start <= MOST_DETAILS and lines[end].startswith("  ") and not FAILURE.match(lines[end]):
                end += 1
            found.append("\n".join(lines[start:end]))
    return found


def count(lines, expressions):
    """The numbers that the output reports."""
    numbers = {"passed": 0, "failed": 0, "skipped": 0, "ran": 0}
    for name, patterns in expressions.items():
        for pattern in patterns:
            numbers[name] += sum(int(found.group(1)) for found in (re.search(pattern, line) for line in lines) if found)
    if "ran" in expressions:
        numbers["passed"] = numbers["ran"] - numbers["failed"] - numbers["skipped"]
    return numbers


def judge(lines, status, expired, form, forbidden):
    """The numbers of a group, and the reasons for which it fails as a whole."""
    if form == "command":
        return {"passed": int(status == 0 and not expired), "failed": int(status != 0 or expired), "skipped": 0}, []
    numbers = count(lines, FORMATS[form])
    reasons = []
    if expired:
        reasons.append("took too long and was stopped")
    elif status != 0 and numbers["failed"] == 0:
        reasons.append("exit status %d" % status)
    if numbers["passed"] + numbers["failed"] == 0:
        reasons.append("no test ran")
    for pattern in forbidden:
        found = next((line for line in lines if re.search(pattern, line)), None)
        if found is not None:
            reasons.append("the output has a line that must not occur: " + found)
    numbers["failed"] += 1 if reasons else 0
    return numbers, reasons


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("name")
    parser.add_argument("format", choices=FORMATS)
    parser.add_argument("--forbid", action="append", default=[])
    parser.add_argument("--timeout", type=float, default=1200)
    own = sys.argv[1:sys.argv.index("--")]
    arguments, command = parser.parse_args(own), sys.argv[len(own) + 2:]

    arguments.directory.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    # A session of its own, so that a stop also ends the processes that the command started.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    expired = threading.Event()

    def stop(*_):
        expired.set()
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    timer = threading.Timer(arguments.timeout, stop)
    timer.daemon = True
    timer.start()
    lines = []
    with open(arguments.directory / (arguments.name + ".log"), "w", encoding="utf-8") as log:
        for raw in process.stdout:
            line = raw.decode("utf-8", "replace")
            log.write(line)
            lines.append(line.rstrip("\n"))
            # The counts of one group are not the closing line of the whole check.
            if not (arguments.format == "counts" and re.search(r"^\d+ passed, \d+ failed", line)):
                sys.stdout.write(line)
                sys.stdout.flush()
    status = process.wait()
    timer.cancel()

    numbers, reasons = judge(lines, status, expired.is_set(), arguments.format, arguments.forbid)
    result = {"name": arguments.name, "passed": numbers["passed"], "failed": numbers["failed"],
              "skipped": numbers["skipped"], "seconds": round(time.monotonic() - began, 1), "reasons": reasons,
              "failures": failures(lines) if numbers["failed"] else []}
    (arguments.directory / (arguments.name + ".json")).write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
