#!/usr/bin/env python3
"""Add up the groups of tests that were to run: what they took, what failed, and one closing line.

    total.py DIRECTORY NAME...

A group without a result did not run, which is a failure. One whose result says that it lacks something
(run_group.py --lacks) did not run either, and has not failed. Warnings of a group (run_group.py --warn)
are shown and are no failures. The exit status is 1 if anything failed. The table of two groups or
more goes to DIRECTORY/table.txt as well. Results that are older than DWELL_STARTED, milliseconds since
the epoch, are kept from an earlier run, and it says so.

Before the closing line come those tests that failed, ran once more and passed. The closing line goes
to DIRECTORY/total as well. gradlew prints that file after Gradle's own last
lines and says so in DWELL_TOTAL_PRINTED_BY; then it is not printed here. DWELL_LOG_LINES is the number
of lines that are printed of the log of a failed group, beside those that tell what failed.
"""

import os
import pathlib
import sys
import time

import results


def main(directory, names):
    directory.mkdir(parents=True, exist_ok=True)
    found = [results.read(directory, name) for name in names]
    last = int(os.environ.get("DWELL_LOG_LINES", "0"))
    if len(found) > 1:
        text = table(found, float(os.environ.get("DWELL_STARTED") or 0) / 1000)
        (directory / "table.txt").write_text(text)
        print("\n" + text, end="")
    for result in found:
        if result["failed"] or result.get("warnings"):
            show_failed(directory, result, last)
    print("\nThe output of each group is in %s/NAME.log." % directory)
    for result in found:
        for name in result.get("flaky", []):
            print("flaky: %s (%s)" % (name, result["name"]))
    line = "%d passed, %d failed" % (sum(r["passed"] for r in found), sum(r["failed"] for r in found))
    (directory / "total").write_text(line + "\n")
    if os.environ.get("DWELL_TOTAL_PRINTED_BY") != "gradlew":
        print(line)
    return 1 if any(r["failed"] for r in found) else 0


def table(found, started):
    """A line for each group, those that took longest first, and what they took together; `started` is 0 if the build does not say when."""
    rows, ran = [], []
    for result in sorted(found, key=lambda result: -result["seconds"]):
        if result.get("missing"):
            note = "%s: %s" % (results.DID_NOT_RUN, result["missing"])
        elif "began" not in result:
            note = results.DID_NOT_RUN
        elif result["began"] < started:
            note = "kept from an earlier run"
        else:
            note = ""
            ran.append(result)
        rows.append("%-22s %7d %7d %8s %8.0f  %s" % (result["name"], result["passed"], result["failed"], clock(result["seconds"]),
                                                    result.get("cpu", 0), note))
    rows.insert(0, "%-22s %7s %7s %8s %8s" % ("", "passed", "failed", "time", "CPU s"))
    if ran:
        rows.append("%-22s %7s %7s %8s %8.0f" % ("%d of %d ran" % (len(ran), len(found)), "", "", clock(sum(r["seconds"] for r in ran)),
                                                 sum(r.get("cpu", 0) for r in ran)))
    else:
        rows.append("Nothing ran: all results are kept from an earlier run." if all("began" in r and not r.get("missing") for r in found) else "Nothing ran.")
    if started > 0:
        rows.append("elapsed %s with builds" % clock(time.time() - started))
    return "".join(row.rstrip() + "\n" for row in rows)


def clock(seconds):
    """Minutes and seconds."""
    return "%d:%02d" % divmod(round(seconds), 60)


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
