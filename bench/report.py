#!/usr/bin/env python3
"""Gather the results of one run of the benchmarks: JSON as measured, and tables with the machine and the command.

    report.py RESULTS CRITERION SPARK.json ONE_THREAD.json COMMAND VERSIONS

CRITERION is the directory that criterion writes to (target/criterion), SPARK.json the output of
dwell.bench.cd.LinearRegressionBench, ONE_THREAD.json that of one_thread.py; a file that is not there is left out.
Writes RESULTS/<date>-<what it measures>/, replacing what is there.
"""

import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys


def output(*command):
    try:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def cpu():
    try:
        found = re.search(r"^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1) if found else platform.processor() or platform.machine()


def machine():
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"cpu": cpu(), "cores": os.cpu_count(), "memory_gib": round(memory, 1), "system": "%s %s" % (platform.system(), platform.release()),
            "commit": output("git", "rev-parse", "--short", "HEAD") + ("+changes" if output("git", "status", "--porcelain") else ""),
            "date": datetime.date.today().isoformat()}


def kernels(criterion, group):
    """Median nanoseconds an entry of each kernel of this group in the last run."""
    rows = []
    for path in sorted((criterion / group).glob("**/new/estimates.json")):
        about = json.loads((path.parent / "benchmark.json").read_text())
        estimates = json.loads(path.read_text())
        entries = (about.get("throughput") or {}).get("Elements")
        if not entries:
            continue
        median = estimates["median"]
        interval = median["confidence_interval"]
        rows.append({"kernel": about["function_id"] or about["title"], "entries": entries, "ns_per_entry": median["point_estimate"] / entries,
                     "ns_per_entry_95": [interval["lower_bound"] / entries, interval["upper_bound"] / entries]})
    return rows


def kernel_table(rows):
    lines = ["| kernel | entries | ns per entry | 95% interval |", "|:--|--:|--:|:--|"]
    for row in rows:
        lines.append("| %s | %d | %.2f | %.2f to %.2f |" % (row["kernel"], row["entries"], row["ns_per_entry"], *row["ns_per_entry_95"]))
    return lines


# How many times faster than the reference of the same run the E-step has to be.
E_STEP_GOALS = {"avx2": 10.0, "avx512": 12.0}


def e_step_table(rows):
    """Documents are entries here."""
    reference = next(row["ns_per_entry"] for row in rows if row["kernel"] == "reference")
    lines = ["| kernel | microseconds a document | 95% interval | times faster than the reference | goal | |", "|:--|--:|--:|--:|--:|:--|"]
    for row in rows:
        ratio, goal = reference / row["ns_per_entry"], E_STEP_GOALS.get(row["kernel"].split("/")[0])
        lines.append("| %s | %.1f | %.1f to %.1f | %.1f | %s |" % (
            row["kernel"], row["ns_per_entry"] / 1e3, *[ns / 1e3 for ns in row["ns_per_entry_95"]], ratio,
            "%g | %s" % (goal, "met" if ratio >= goal else "missed") if goal else " | "))
    return lines


def spark_table(rows):
    lines = ["| data | regParam | elasticNetParam | relative suboptimality | system | iterations | seconds: median (all) |",
             "|:--|--:|--:|--:|:--|--:|:--|"]
    for row in rows:
        seconds = sorted(row["seconds"])
        times = "%.2f (%s)" % (seconds[len(seconds) // 2], " ".join("%.2f" % s for s in row["seconds"])) if seconds else "not reached"
        iterations = "" if row["iterations"] is None else row["iterations"]
        lines.append("| %s | %g | %g | %g | %s | %s | %s |" % (
            row["data"], row["regParam"], row["elasticNetParam"], row["target"], row["system"], iterations, times))
    return lines


def middle(numbers):
    return sorted(numbers)[len(numbers) // 2]


def one_thread_table(rows):
    """Solvers on one thread; the last column is how often the seconds of Dwell's dual solver they need."""
    dwell = {(row["data"], row["loss"], row["target"]): row for row in rows if row["solver"] == "dwell dual"}
    lines = ["| data | loss | target | solver | passes | seconds: median (least to most) | reached | seconds / Dwell's dual | median of the ratios, run by run |",
             "|:--|:--|--:|:--|--:|:--|--:|--:|--:|"]
    for row in rows:
        start = "| %s | %s | %g | %s | " % (row["data"], row["loss"], row["target"], row["solver"])
        ours, seconds = dwell[row["data"], row["loss"], row["target"]]["seconds"], row["seconds"]
        if seconds and ours:
            paired = middle([theirs / mine for theirs, mine in zip(seconds, ours)])
            lines.append(start + "%d | %.3f (%.3f to %.3f) | %.1e | %.2f | %.2f |" % (
                row["passes"], middle(seconds), min(seconds), max(seconds), row["suboptimality"], middle(seconds) / middle(ours), paired))
        else:
            lines.append(start + "| not reached | | | |")
    return lines


def setup_table(rows):
    lines = ["| data | rows | features | entries | epoch, ns per entry | row norms | a call without an epoch | both, in epochs |", "|:--|--:|--:|--:|--:|--:|--:|--:|"]
    for row in rows:
        seconds = {name: middle(each) for name, each in row["seconds"].items()}
        epoch = (seconds["5 passes"] - seconds["1 pass"]) / 4
        lines.append("| %s | %d | %d | %d | %.2f | %.1f ms | %.1f ms | %.2f |" % (
            row["data"], row["rows"], row["features"], row["nonzeros"], epoch * 1e9 / row["nonzeros"], 1e3 * seconds["norms"],
            1e3 * seconds["one bucket"], (seconds["norms"] + seconds["one bucket"]) / epoch))
    return lines


def main(results, criterion, spark, one_thread, command, versions):
    about = machine()
    kernel_rows, e_steps = kernels(criterion, "kernels"), kernels(criterion, "e-step")
    spark_rows = json.loads(spark.read_text()) if spark.is_file() else []
    solves = json.loads(one_thread.read_text()) if one_thread.is_file() else None
    if not kernel_rows:
        sys.exit("no results in %s" % criterion)
    measured = ["kernels"] + ["one-thread"] * bool(solves) + ["linear-regression"] * bool(spark_rows)
    directory = results / "-".join([about["date"], *measured])
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    (directory / "kernels.json").write_text(json.dumps({"machine": about, "kernels": kernel_rows, "eSteps": e_steps}, indent=1) + "\n")
    page = ["# Benchmarks, %s" % about["date"], "", "`%s`" % command, "",
            "%s, %d cores, %s GiB, %s; %s; commit %s." % (about["cpu"], about["cores"], about["memory_gib"], about["system"], versions, about["commit"]),
            "", "## Kernels", "", "One epoch, one thread, median of processor time. `stream` and `gather` are the floors: reading the matrix once, and gathering from the",
            "shared vector for every entry.", "", *kernel_table(kernel_rows), ""]
    if e_steps:
        page += ["## E-step", "", "Gamma and statistics of a document of 225 words, 100 topics, one thread, median of processor time, tolerance 1e-3. The reference is in double",
                 "precision, by a digamma of the recurrence up to 49. `default` is as fits do it, `pruning` without over-relaxation, `plain` without either, as the",
                 "reference.", "", *e_step_table(e_steps), ""]
    if solves:
        (directory / "one-thread.json").write_text(json.dumps({"machine": about, **solves}, indent=1) + "\n")
        page += ["## One thread", "", "Dwell's local solver beside liblinear and Snap ML: one thread, lambda 1 for the unnormalised sum of losses, no intercept. Seconds of the",
                 "processor, repetitions interleaved; Dwell's contain row norms and the check of every entry. Each solver has the loosest of a ladder of",
                 "settings that reaches the target, a relative suboptimality. %s." % ", ".join("%s %s" % pair for pair in sorted(solves["versions"].items())),
                 "", *one_thread_table(solves["solves"]), "", "What precedes the first epoch:", "", *setup_table(solves["setup"]), ""]
    if spark_rows:
        (directory / "linear-regression.json").write_text(json.dumps({"machine": about, "fits": spark_rows}, indent=1) + "\n")
        page += ["## LinearRegression", "", "Seconds of a whole `fit` with as many iterations as reach the relative suboptimality, both systems in turn on the same",
                 "cluster (two executors with one core each) and the same cached data. Spark's l-bfgs had 100 iterations, its default, to",
                 "reach it. The packages are standardised, the rows of unit norm are not.", "", *spark_table(spark_rows), ""]
    (directory / "README.md").write_text("\n".join(page))
    print("results are in %s" % os.path.relpath(directory))


if __name__ == "__main__":
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    main(*[pathlib.Path(argument) for argument in sys.argv[1:5]], *sys.argv[5:])
