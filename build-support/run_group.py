#!/usr/bin/env python3
"""Run one group of tests, keep its output, and record how many of its tests passed and failed.

    run_group.py DIRECTORY NAME FORMAT [--forbid REGEX]... [--timeout SECONDS] -- COMMAND...

FORMAT says how COMMAND reports its counts: see FORMATS. A group fails as a whole (one failure on
top of those counted) if the command's exit status is not 0 although it reported no failure, if it
reported no count or ran nothing, if it took longer than SECONDS, or if a line of its output matches
--forbid. The output goes to DIRECTORY/NAME.log and the result to DIRECTORY/NAME.json; the result is
printed, in one line. The exit status is 0 whenever the group could be run: total.py decides, so that a
failure in one group does not keep the others from running. Lines that name a failed test are kept in
the result, with the lines that tell why: total.py prints them at the end.
"""

import argparse
import contextlib
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

import results

# For each format: expressions whose group is added to the number of that name. "command" has none:
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
# Cases that are left to checkLong, in whatever format the others are counted.
LATER = {"later": [r"^(\d+) more in checkLong"]}
# What one line stands for, where a command was stopped before it reported its counts.
EACH = {"counts": {"passed": r"ok      ", "failed": r"FAILED  "}}
# Lines that name a failed test.
FAILURE = re.compile(r"^(FAILED  |FAIL: |ERROR: |---- .* stdout ----|.*\*\*\* (FAILED|ABORTED) \*\*\*|.* (✘|\[X\]) )")
# The first line that does not tell why any more: where the format does not say, one that is not indented.
AFTER = {"cargo": re.compile(r"^(---- .* stdout ----|failures:)$"), "unittest": re.compile(r"^(={70}|-{70})$")}
NOT_INDENTED = re.compile(r"^(?!  )")
MOST_FAILURES, MOST_DETAILS = 20, 16
# Of a group that failed without a line that names a test.
LAST_LINES = 20


def failures(lines, form):
    """Each line that names a failed test, with the lines that tell why."""
    found = []
    for start, line in enumerate(lines):
        if FAILURE.match(line) and len(found) < MOST_FAILURES:
            after = AFTER.get(form, NOT_INDENTED)
            # unittest underlines the name.
            first = start + 2 if form == "unittest" else start + 1
            end = first
            while end < len(lines) and end - first < MOST_DETAILS and not after.match(lines[end]) and not FAILURE.match(lines[end]):
                end += 1
            found.append("\n".join([line] + [detail for detail in lines[first:end] if detail]))
    return found


def count(lines, expressions):
    """The numbers that the output reports."""
    numbers = {"passed": 0, "failed": 0, "skipped": 0, "later": 0, "ran": 0}
    for name, patterns in {**expressions, **LATER}.items():
        for pattern in patterns:
            numbers[name] += sum(int(found.group(1)) for found in (re.search(pattern, line) for line in lines) if found)
    if "ran" in expressions:
        numbers["passed"] = numbers["ran"] - numbers["failed"] - numbers["skipped"]
    return numbers


def judge(lines, status, stopped, form, forbidden):
    """The numbers of a group, and the reasons for which it fails as a whole; `stopped` says why it was stopped, if it was."""
    reasons = [] if stopped is None else [stopped]
    if form == "command":
        ok = status == 0 and not reasons
        return dict(count([], {}), passed=int(ok), failed=int(not ok)), reasons
    numbers = count(lines, FORMATS[form])
    if numbers["passed"] + numbers["failed"] == 0 and form in EACH:
        numbers.update({name: sum(bool(re.match(pattern, line)) for line in lines) for name, pattern in EACH[form].items()})
    if status != 0 and numbers["failed"] == 0 and not reasons:
        reasons.append("exit status %d" % status)
    if numbers["passed"] + numbers["failed"] == 0:
        reasons.append("no test ran")
    for pattern in forbidden:
        found = next((line for line in lines if re.search(pattern, line)), None)
        if found is not None:
            reasons.append("the output has a line that must not occur: " + found)
    numbers["failed"] += 1 if reasons else 0
    return numbers, reasons


def run(command, seconds, log):
    """The exit status of a command, and why it was stopped, if it was: it may take so many seconds."""
    # A session of its own, so that what the command started can be stopped with it.
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    reasons = []

    def stop(why):
        reasons.append(why)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    for stopping in signal.SIGTERM, signal.SIGINT:
        signal.signal(stopping, lambda *_: stop("was stopped"))
    try:
        status = process.wait(seconds)
    except subprocess.TimeoutExpired:
        stop("took too long and was stopped")
        status = process.wait()
    return status, reasons[0] if reasons else None


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
    path = arguments.directory / (arguments.name + ".log")
    began = time.monotonic()
    with open(path, "wb") as log:
        status, stopped = run(command, arguments.timeout, log)
    seconds = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)

    lines = path.read_text("utf-8", "replace").splitlines()
    numbers, reasons = judge(lines, status, stopped, arguments.format, arguments.forbid)
    told = failures(lines, arguments.format) if numbers["failed"] else []
    if numbers["failed"] and not told:
        told = ["\n".join(lines[-LAST_LINES:])]
    result = {
        "name": arguments.name, "passed": numbers["passed"], "failed": numbers["failed"], "skipped": numbers["skipped"],
        "later": numbers["later"], "seconds": round(seconds, 1), "cpu": round(used.ru_utime + used.ru_stime, 1),
        "reasons": reasons, "failures": told}
    results.write(arguments.directory, result)
    print(results.line(result), flush=True)


if __name__ == "__main__":
    main()
