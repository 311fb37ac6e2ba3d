#!/usr/bin/env python3
"""Write the table of versions into a document: what ran on each Spark, and how many of its tests passed.

    versions.py DIRECTORY DOCUMENT

DIRECTORY has the results of groups (run_group.py), those of the last run of each. A group whose last run failed
is not in the table, and the script says so and exits with 1. The table takes the place of the one in DOCUMENT
that has the same heading.
"""

import json
import pathlib
import re
import sys

HEADING = "| Spark | Scala | Java | Passed | Groups of tests |\n|:--|:--|:--|--:|:--|\n"


def number(version):
    """A version as numbers, to sort by."""
    return [int(part) for part in re.findall(r"\d+", version)]


def table(found):
    """The lines of the table, newest Spark first; one for each Spark, Scala and Java."""
    platforms = {}
    for result in found:
        versions = dict(pair.split("=", 1) for pair in result["platform"].split())
        platforms.setdefault((versions["spark"], versions["scala"], versions["java"]), []).append(result)
    lines = []
    for platform in sorted(platforms, key=lambda versions: [number(version) for version in versions], reverse=True):
        groups = sorted(platforms[platform], key=lambda result: result["name"])
        named = ", ".join("`%s` %d" % (result["name"], result["passed"]) for result in groups)
        lines.append("| %s | %s | %s | %d | %s |\n" % (*platform, sum(result["passed"] for result in groups), named))
    return lines


def main(directory, document):
    results = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(directory.glob("*.json"))]
    ran = [result for result in results if result.get("platform")]
    failed = [result["name"] for result in ran if result["failed"]]
    before = document.read_text(encoding="utf-8")
    after, tables = re.subn(re.escape(HEADING) + r"(?:\|.*\n)*", lambda _: HEADING + "".join(table([r for r in ran if not r["failed"]])), before)
    if tables != 1:
        sys.exit("%s has %d tables with the heading %s" % (document, tables, HEADING.splitlines()[0]))
    document.write_text(after, encoding="utf-8")
    if failed:
        sys.exit("left out, because they failed: " + ", ".join(failed))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
