#!/usr/bin/env python3
"""Add up the groups of tests: print the failures, a table, and one closing line.

    total.py DIRECTORY NAME...

A group without a result did not run, which counts as a failure. The exit status is 1 if anything
failed. The closing line goes to DIRECTORY/total as well. gradlew prints that file after Gradle's
own last lines and says so in DWELL_TOTAL_PRINTED_BY; then it is not printed here.
"""

import json
import os
import pathlib
import sys


def main(directory, names):
    passed = failed = 0
    missing = {"passed": 0, "failed": 1, "skipped": 0, "seconds": 0.0, "reasons": ["did not run"], "failures": []}
    results = {}
    for name in names:
        path = directory / (name + ".json")
        results[name] = json.loads(path.read_text()) if path.exists() else missing
        for failure in results[name]["failures"]:
            print("\n%s: %s" % (name, failure))
    print()
    for name, result in results.items():
        passed += result["passed"]
        failed += result["failed"]
        skipped = ", %d skipped" % result["skipped"] if result["skipped"] else ""
        print("%-18s %5d ok %4d not ok%s  %.1f s" % (name, result["passed"], result["failed"], skipped, result["seconds"]))
        for reason in result["reasons"]:
            print("%-18s %s" % ("", reason))
    line = "%d passed, %d failed" % (passed, failed)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "total").write_text(line + "\n")
    if os.environ.get("DWELL_TOTAL_PRINTED_BY") != "gradlew":
        print(line)
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2:]))
