#!/usr/bin/env python3
"""Tables of the benchmarks on Spark that are not a part of `./gradlew bench`.

    spark_tables.py DIRECTORY COMMAND VERSIONS RESULT.json...

Each RESULT is a file of build/bench (benchRounds.json, benchIntercept.json, benchLocalWork.json, benchClassification.json, benchExchange.json, benchGrid.json). Writes
them to DIRECTORY with the machine, and their tables into its README.md: what stands there above "## Tables" is kept.
"""

import json
import pathlib
import sys

from report import machine, middle


def seconds_text(seconds):
    return "%.2f (%s)" % (middle(seconds), " ".join("%.2f" % s for s in seconds)) if seconds else "not reached"


def rounds_table(rows):
    lines = ["| data | loss | params | orientation | step | rounds to a suboptimality of 1e-3 / 1e-4 | to a gap of 1e-3 / 1e-4 | gap after the last round |",
             "|:--|:--|:--|:--|:--|--:|--:|--:|"]
    for row in rows:
        def counts(key):
            return " / ".join("-" if count is None else str(count) for count in row[key])
        lines.append("| %s | %s | %s | %s | %s | %s | %s | %.1e after %d |" % (
            row["data"], row["loss"], row["params"], row["orientation"], row["step"], counts("roundsToSuboptimality"),
            counts("roundsToGap"), row["gaps"][-1], len(row["gaps"]) - 1))
    return lines


def intercept_table(rows):
    lines = ["| data | rows x features | standardised | regParam | loss | workers | rounds to a gap of 1e-2 / 1e-3 / 1e-4 / 1e-5 / 1e-6 |",
             "|:--|:--|:--|--:|:--|--:|:--|"]
    for row in rows:
        lines.append("| %s | %d x %d | %s | %g | %s | %d | %s |" % (
            row["data"], row["rows"], row["features"], "yes" if row["standardization"] else "no", row["regParam"], row["loss"],
            row["workers"], " / ".join("-" if count is None else str(count) for count in row["roundsToGap"])))
    return lines


def local_work_table(rows):
    lines = ["| loss | orientation | workers | H | rounds | seconds of the rounds: median (all) | to the best H of the grid, run by run: median | seconds of the whole fit |",
             "|:--|:--|--:|--:|--:|:--|--:|--:|"]
    for row in rows:
        name = "%s%s" % (row["localWork"], " (best)" if row["localWork"] == row["bestOfGrid"] else "")
        lines.append("| %s | %s | %d | %s | %s | %s | %.2f | %.2f |" % (
            row["loss"], row["orientation"], row["workers"], name, middle(row["rounds"]), seconds_text(row["seconds"]),
            middle(row["ratiosToBest"]), middle(row["wholeFitSeconds"])))
    return lines


def classification_table(rows):
    lines = ["| estimator | data | regParam | target | system | iterations | seconds: median (all) | reached | Spark's seconds / these, run by run: median |",
             "|:--|:--|--:|--:|:--|--:|:--|--:|--:|"]
    # Where Spark does not get there, the time it takes for not getting there is the least it would need.
    theirs = {(row["estimator"], row["regParam"], row["target"]): row for row in rows if row["system"].startswith("spark")}
    for row in rows:
        spark, ours, ratio = theirs[row["estimator"], row["regParam"], row["target"]], row["seconds"], ""
        if spark["seconds"] and ours:
            ratio = "%.1f" % middle([s / t for s, t in zip(spark["seconds"], ours)])
        elif ours and spark.get("longFitSeconds"):
            ratio = "more than %.1f" % (spark["longFitSeconds"] / middle(ours))
        lines.append("| %s | %s | %.2g | %g | %s | %s | %s | %s | %s |" % (
            row["estimator"], row["data"], row["regParam"], row["target"], row["system"], row["iterations"] or "", seconds_text(row["seconds"]),
            "%.1e" % row["reached"] if row["reached"] is not None else "", ratio))
    return lines


def exchange_table(rows):
    lines = ["| doubles | workers | mode | milliseconds of an exchange: median (all runs) |", "|--:|--:|:--|:--|"]
    for row in rows:
        lines.append("| %d | %d | %s | %s |" % (row["length"], row["workers"], row["mode"], seconds_text(row["milliseconds"])))
    return lines


def grid_table(rows):
    lines = ["| data | system | seconds: median (all) | best regParam | best area under ROC |", "|:--|:--|:--|--:|--:|"]
    for row in rows:
        lines.append("| %s | %s | %s | %.2e | %.4f |" % (
            row["data"], row["system"], seconds_text(row["seconds"]), row["bestRegParam"], max(row["metrics"])))
    return lines


TABLES = {"benchRounds": ("Rounds", rounds_table), "benchIntercept": ("Rounds with an intercept", intercept_table),
          "benchLocalWork": ("Local work", local_work_table),
          "benchClassification": ("Classification", classification_table), "benchExchange": ("Exchange", exchange_table),
          "benchGrid": ("Grid search", grid_table)}


def main(directory, command, versions, files):
    about = machine()
    directory.mkdir(parents=True, exist_ok=True)
    readme = directory / "README.md"
    head = readme.read_text().split("## Tables")[0].rstrip() if readme.is_file() else "# Benchmarks on Spark, %s" % about["date"]
    page = [head, "", "## Tables", "", "`%s`" % command, "",
            "%s, %d cores, %s GiB, %s; %s; commit %s." % (about["cpu"], about["cores"], about["memory_gib"], about["system"], versions, about["commit"])]
    for file in files:
        title, table = TABLES[file.stem]
        rows = json.loads(file.read_text())
        (directory / file.name).write_text(json.dumps({"machine": about, "results": rows}, indent=1) + "\n")
        page += ["", "### %s" % title, "", *table(rows)]
    readme.write_text("\n".join(page) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], [pathlib.Path(argument) for argument in sys.argv[4:]])
