#!/usr/bin/env python3
"""Add up the groups of tests that were to run: what failed, and one closing line.

    total.py DIRECTORY NAME...

A group without a result did not run, which is a failure. The exit status is 1 if anything failed.
The closing line goes to DIRECTORY/total as well. gradlew prints that file after Gradle's own last
lines and says so in DWELL_TOTAL_PRINTED_BY; then it is not printed here. DWELL_LOG_LINES is the number
of lines that are printed of the log of a failed group, beside those that tell what failed.
"""

import os
import pathlib
import sys

import results


def main(directory, names):
    directory.mkdir(parents=True, exist_ok=True)
    found = [results.read(directory, name) for name in names]
    last = int(os.environ.get("DWELL_LOG_LINES", "0"))
    for result in found:
        if result["failed"]:
            show_failed(directory, result, last)
    print("\nThe output of each group is in %s/NAME.log." % directory)
    line = "%d passed, %d failed" % (sum(r["passed"] for r in found), sum(r["failed"] for r in found))
    (directory / "total").write_text(line + "\n")
    if os.environ.get("DWELL_TOTAL_PRINTED_BY") != "gradlew":
        print(line)
    return 1 if any(r["failed"] for r in found) else 0


def show_failed(directory, result, last):
    print("\n" + results.line(result))
    for reason in result["reasons"]:
        print("  " + reason)
    for failure in result["failures"]:
        print("\n" + failure)
    log = directory / (result["name"] + ".log")
    if log.exists() and last > 0:
        print("\nThe last lines of %s:" % log)
        print("\n".join(log.read_text("utf-8", "replace").splitlines()[-last:]))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2:]))
