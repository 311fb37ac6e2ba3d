#!/usr/bin/env python3
"""Run one group of tests, keep its output, and record how many of its tests passed and failed.

    run_group.py DIRECTORY NAME FORMAT [--forbid REGEX]... [--timeout SECONDS] [--case SECONDS] [--disk GIB] [--scratch DIR] [--warn]
                 [--lacks WHAT] -- COMMAND...

FORMAT says how COMMAND reports its counts: see FORMATS. A group fails as a whole (one failure on
top of those counted) if the command's exit status is not 0 although it reported no failure, if it
reported no count or ran nothing, if a line of its output matches --forbid, or if it was stopped: it
took longer than --timeout, one of its cases took longer than --case, this script was told to stop, or
the process that started it ended. Then those cases count that had ended. It does not start where there
are fewer than --disk GiB free. What it starts ends with it.

The output goes to DIRECTORY/NAME.log and the result to DIRECTORY/NAME.json; the result is
printed, in one line. The exit status is 0 whenever the group could be run: total.py decides, so that a
failure in one group does not keep the others from running. Lines that name a failed test are kept in
the result, with the lines that tell why: total.py prints them at the end. So are the names in lines
"flaky   NAME: why": such a test failed, ran once more and passed.

With --warn a failed test is a warning: it is kept with its lines, and the group has not failed.

DWELL_PLATFORM, the versions that the group runs on, is kept in the result for versions.py.

With --lacks the group does not run, which is neither a failure nor a pass: the result says why.

With --scratch, DIR/NAME is there while the command runs: DWELL_SCRATCH names it, temporary files and
Spark's go there.
"""

import argparse
import contextlib
import math
import os
import pathlib
import re
import resource
import sys
import time

import processes
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
    "unittest": {"ran": [r"^Ran (\d+) tests? in "],
                 "failed": [r"^FAILED \((?:.*, )?%s=(\d+)" % kind for kind in ("failures", "errors", "unexpected successes")],
                 "skipped": [r"^(?:OK|FAILED) \(.*skipped=(\d+)"]},
    "counts": {"passed": [r"^(\d+) passed, \d+ failed"], "failed": [r"^\d+ passed, (\d+) failed"]},
}
# Cases that are left to checkLong, in whatever format the others are counted.
LATER = {"later": [r"^(\d+) more in checkLong"]}
# The end of a case: its name and, in a word, how it ended. Where the name comes in a line before, the first expression finds it.
EACH = {
    "cargo": (r"test (?P<name>.+) \.\.\. ", r"(?:test .+ \.\.\. )?(?P<word>ok|FAILED|ignored)\b"),
    # Of --details=verbose: the only one that tells of each test when it ends, and of no container.
    "junit": (r".*uniqueId: \[engine:[^]]+\]/(?P<name>.+)", r".*status: \S+ (?P<word>SUCCESSFUL|FAILED|SKIPPED|ABORTED)$"),
    "scalatest": (None, r"- (?P<name>.+?)(?: (?P<word>\*\*\* FAILED \*\*\*|!!! IGNORED !!!|!!! CANCELED !!!|\(pending\)))?"
                        r"(?: \(\d+ (?:millisecond|second|minute|hour)[^()]*\))?$"),
    # A test's words are a line of their own, and what it prints may come between.
    "unittest": (r" *(?P<name>\w+ \([\w.]+\))(?:$| .*\.\.\. )",
                 r"(?:.*\.\.\. )?(?P<word>ok|FAIL|ERROR|skipped|expected failure|unexpected success)(?: ['\"].*)?$"),
    "counts": (None, r"(?P<word>ok|FAILED)  +(?P<name>.+?)(?:: .*| \([\d.,]+ s\)| \(kept\))?$"),
}
OUTCOMES = {
    "passed": [None, "ok", "SUCCESSFUL", "expected failure"],
    "failed": ["FAILED", "*** FAILED ***", "FAIL", "ERROR", "unexpected success"],
    "skipped": ["ignored", "SKIPPED", "ABORTED", "!!! IGNORED !!!", "!!! CANCELED !!!", "(pending)", "skipped"],
}
OUTCOME = {word: outcome for outcome, words in OUTCOMES.items() for word in words}
FLAKY = re.compile(r"flaky   (.+?)(?:: |$)")
# Seconds that the first case gets on top.
START_UP = 60

# Lines that name a failed test.
FAILURE = re.compile(r"^(FAILED  |FAIL: |ERROR: |---- .* stdout ----|.*\*\*\* (FAILED|ABORTED) \*\*\*|.* (✘|\[X\]) )")
# The first line that does not tell why any more: where the format does not say, one that is not indented.
AFTER = {"cargo": re.compile(r"^(---- .* stdout ----|failures:)$"), "unittest": re.compile(r"^(={70}|-{70})$")}
NOT_INDENTED = re.compile(r"^(?!  )")
MOST_FAILURES, MOST_DETAILS = 20, 16
# The signs of a tree.
TREE = re.compile(r"^[│|\s]*")
# Of a group that failed without a line that names a test, and of what its processes said when it was stopped.
LAST_LINES, DUMP_LINES = 20, 40


def failures(lines, form):
    """Each line that names a failed test, with the lines that tell why."""
    found = verbose_failures(lines) if form == "junit" else []
    if found:
        return found
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


def verbose_failures(lines):
    """The same of junit's --details=verbose, whose line on the end of a test comes last."""
    found, begin = [], None
    for end, line in enumerate(lines):
        if "uniqueId: " in line:
            begin = end
        elif begin is not None and re.search(r"status: \S+ FAILED$", line):
            found.append("\n".join(TREE.sub("", detail) for detail in lines[begin:min(end, begin + MOST_DETAILS)]))
    return found[:MOST_FAILURES]


class Cases:
    """The cases that have ended: names, and how they ended."""

    def __init__(self, form):
        self.begins, self.ends = (pattern and re.compile(pattern) for pattern in EACH.get(form, (None, None)))
        self.name = None
        self.ended = []

    def read(self, line):
        if self.begins is not None:
            found = self.begins.match(line)
            self.name = found.group("name") if found else self.name
        found = self.ends and self.ends.match(line)
        if found and (self.begins is None or self.name is not None):
            self.ended.append((self.name or found.group("name"), OUTCOME[found.group("word")]))
            self.name = None

    def read_all(self, lines):
        for line in lines:
            self.read(line)
        return self

    def numbers(self):
        return {name: sum(outcome == name for _, outcome in self.ended) for name in OUTCOMES}


class Patience:
    """How long to wait for the next case to end: reads a log that grows."""

    def __init__(self, log, form, seconds):
        self.log = log
        self.cases = Cases(form)
        self.seconds = seconds
        self.since = time.monotonic()
        self.rest = b""

    def late(self, now=None):
        """What is said of a case that takes too long; None: it does not."""
        now = time.monotonic() if now is None else now
        before = len(self.cases.ended)
        *lines, self.rest = (self.rest + self.log.read()).split(b"\n")
        self.cases.read_all(line.decode("utf-8", "replace") for line in lines)
        if len(self.cases.ended) > before:
            self.since = now
        if now - self.since <= self.seconds + (0 if self.cases.ended else START_UP):
            return None
        last = "the last that ended: " + self.cases.ended[-1][0] if self.cases.ended else "none had ended"
        return "a case took longer than %g s and was stopped; %s" % (self.seconds, last)


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
    if status != 0 or stopped is not None:
        # Some or all of what it ran has not reported its counts.
        each = Cases(form).read_all(lines).numbers()
        if sum(each.values()) > sum(numbers[name] for name in each):
            numbers.update(each)
    if status != 0 and numbers["failed"] == 0 and not reasons:
        reasons.append("exit status %d" % status)
    if numbers["passed"] + numbers["failed"] == 0 and stopped is None:
        reasons.append("no test ran")
    for pattern in forbidden:
        found = next((line for line in lines if re.search(pattern, line)), None)
        if found is not None:
            reasons.append("the output has a line that must not occur: " + found)
    numbers["failed"] += 1 if reasons else 0
    return numbers, reasons


def told(lines, numbers, stopped, form):
    """What there is to say of a group that failed: its failed tests with the lines that tell why, and where its processes stood."""
    if not numbers["failed"]:
        return []
    found = failures(lines, form) or ["FAILED  " + name for name, outcome in Cases(form).read_all(lines).ended if outcome == "failed"]
    if stopped in lines:
        found.append("\n".join(lines[lines.index(stopped):][:DUMP_LINES]))
    return found or ["\n".join(lines[-LAST_LINES:])]


def run(watch, command, environment, path, form, seconds, case):
    """The exit status of a command, and why it was stopped, if it was: it, and each of its cases, may take so many seconds."""
    # Python's programs say where they stand when they are aborted.
    environment = {**os.environ, "PYTHONFAULTHANDLER": "1", **environment}
    with open(path, "wb") as log, open(path, "rb") as growing:
        process = processes.start(command, stdout=log, stderr=log, env=environment)
        over = processes.limit(seconds, "took too long and was stopped")
        patience = Patience(growing, form, case)
        stopped = watch.wait(process, lambda: over() or patience.late())
        sessions = ()
        if stopped is not None and stopped != watch.why:
            log.write(b"\n%s\n" % stopped.encode())
            log.flush()
            sessions = processes.dump(process, log)
        processes.stop(process, sessions)
    return process.returncode, stopped


def lack(directory, name, why, began):
    """Records and prints that a group has not run."""
    (directory / (name + ".log")).write_text(why + "\n")
    result = {**results.without(name), "failed": 0, "reasons": [], "began": began, "missing": why}
    results.write(directory, result)
    print(results.line(result), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("name")
    parser.add_argument("format", choices=FORMATS)
    parser.add_argument("--forbid", action="append", default=[])
    parser.add_argument("--timeout", type=float, default=1200)
    parser.add_argument("--case", type=float, default=math.inf)
    parser.add_argument("--disk", type=float, default=3)
    parser.add_argument("--scratch", type=pathlib.Path)
    parser.add_argument("--warn", action="store_true")
    parser.add_argument("--lacks")
    own = sys.argv[1:sys.argv.index("--")]
    arguments, command = parser.parse_args(own), sys.argv[len(own) + 2:]

    watch = processes.Watch()
    began, start = time.time(), time.monotonic()
    path = arguments.directory / (arguments.name + ".log")
    place = arguments.scratch or arguments.directory
    for directory in arguments.directory, place:
        directory.mkdir(parents=True, exist_ok=True)
    results.forget(arguments.directory, arguments.name)
    if arguments.lacks:
        return lack(arguments.directory, arguments.name, arguments.lacks, began)
    status, stopped = 0, processes.lack_of_disk(place, arguments.disk)
    if stopped is None:
        scratch = contextlib.nullcontext({}) if arguments.scratch is None else processes.scratch(place / arguments.name)
        with scratch as environment:
            status, stopped = run(watch, command, environment, path, arguments.format, arguments.timeout, arguments.case)
    else:
        path.write_text(stopped + "\n")
    seconds = time.monotonic() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)

    lines = path.read_text("utf-8", "replace").splitlines()
    numbers, reasons = judge(lines, status, stopped, arguments.format, arguments.forbid)
    flaky = [found.group(1) for found in map(FLAKY.match, lines) if found]
    result = {
        "name": arguments.name, "passed": numbers["passed"], "failed": numbers["failed"], "skipped": numbers["skipped"],
        "later": numbers["later"], "began": began, "seconds": round(seconds, 1), "cpu": round(used.ru_utime + used.ru_stime, 1),
        "reasons": reasons, "failures": told(lines, numbers, stopped, arguments.format), "flaky": flaky, "warnings": 0,
        "platform": os.environ.get("DWELL_PLATFORM", "")}
    if arguments.warn:
        result.update(failed=0, warnings=numbers["failed"])
    results.write(arguments.directory, result)
    print(results.line(result), flush=True)


if __name__ == "__main__":
    main()
