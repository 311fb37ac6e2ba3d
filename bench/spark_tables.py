#!/usr/bin/env python3
"""Tables of the benchmarks on Spark that are not a part of `./gradlew bench`.

    spark_tables.py DIRECTORY COMMAND VERSIONS RESULT.json...

Each RESULT is a file of build/bench: TABLES below names them. Writes them to DIRECTORY with the machine and with the charts
beside them, their tables into pages of their own, and links to these into its README.md: what stands there above "## Tables"
is kept.
"""

import json
import pathlib
import shutil
import sys

from report import machine, middle


def seconds_text(seconds):
    return "%.2f (%s)" % (middle(seconds), " ".join("%.2f" % s for s in seconds)) if seconds else "not reached"


def thousandths(seconds):
    return "%.3f (%s)" % (middle(seconds), " ".join("%.3f" % s for s in seconds)) if seconds else "not reached"


def rounds_table(rows):
    lines = ["| data | loss | params | orientation | rounds to a suboptimality of 1e-3 / 1e-4 | to a gap of 1e-3 / 1e-4 | gap after the last round |",
             "|:--|:--|:--|:--|--:|--:|--:|"]
    for row in rows:
        def counts(key):
            return " / ".join("-" if count is None else str(count) for count in row[key])
        lines.append("| %s | %s | %s | %s | %s | %s | %.1e after %d |" % (
            row["data"], row["loss"], row["params"], row["orientation"], counts("roundsToSuboptimality"),
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


def tuning_table(rows):
    lines = ["| search | rows | system | seconds: median (all) | Spark's by these | metrics, at most this far from Spark's |",
             "|:--|--:|:--|:--|--:|--:|"]
    for (search,), some in groups(rows, "search").items():
        spark = next((row for row in some if row["system"] == "Spark"), None)
        for row in some:
            times = "%.1f" % (middle(spark["seconds"]) / middle(row["seconds"])) if spark else ""
            apart = "" if row["fromSpark"] is None else "%.1e" % row["fromSpark"]
            lines.append("| %s | %d | %s | %s | %s | %s |" % (search, row["rows"], row["system"], seconds_text(row["seconds"]), times, apart))
    return lines


def networks_table(rows):
    lines = ["| layers | rows | system | rounds | seconds: median (all) | rows a second, by rounds | held-out accuracy | Spark's seconds / these |",
             "|:--|--:|:--|--:|:--|--:|--:|--:|"]
    for (layers,), some in groups(rows, "layers").items():
        spark = next((row for row in some if row["system"].startswith("Spark")), None)
        for row in some:
            seconds = middle(row["seconds"])
            times = "%.1f" % (middle(spark["seconds"]) / seconds) if spark else ""
            lines.append("| %s | %d | %s | %d | %s | %d | %.4f | %s |" % (layers, row["rows"], row["system"], row["rounds"], seconds_text(row["seconds"]),
                                                                          row["rows"] * row["rounds"] / seconds, row["accuracy"], times))
    return lines


def split(row):
    """Median seconds of worker, leader, overhead and communication: what is neither of the first two is overhead up to that of rounds without
    work and vector, and communication beyond."""
    def parts(seconds, worker, leader, empty):
        rest = max(0.0, seconds - worker - leader)
        overhead = min(rest, row["rounds"] * empty)
        return worker, leader, overhead, rest - overhead
    runs = [parts(*run) for run in zip(row["seconds"], row["worker"], row["leader"], row["emptyRound"])]
    return [middle([run[i] for run in runs]) for i in range(4)]


def line(points):
    """Least squares y = a + b x."""
    n, mean_x, mean_y = len(points), sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)
    b = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return mean_y - b * mean_x, b


def references_table(rows):
    lines = ["| data | implementation | best H | rounds | seconds to 1e-3: median (all) | worker | leader | overhead | communication | to (E), run by run: median | to (E) with certificates |",
             "|:--|:--|--:|--:|:--|--:|--:|--:|--:|--:|--:|"]
    best = [row for row in rows if row["best"]]
    for row in best:
        def to(name):
            other = [other for other in best if other["data"] == row["data"] and other["implementation"] == name]
            return "%.2f" % middle([a / b for a, b in zip(row["seconds"], other[0]["seconds"])]) if other else ""
        lines.append("| %s | %s | %g | %d | %s | %s | %s | %s |" % (
            row["data"], row["implementation"], row["localWork"], row["rounds"], thousandths(row["seconds"]), " | ".join("%.3f" % part for part in split(row)),
            to("(E) MPI"), to("(E) MPI, with certificates")))
    lines += ["", "Against local work, the first run of each: milliseconds a round / seconds to 1e-3. The model is N(H) (t1 + t2 H), with rounds N(H) = a/H + b, and is least at H* = sqrt(a t1 / (b t2)).", ""]
    names = sorted({row["localWork"] for row in rows})
    lines += ["| data | implementation | %s | t1 ms | t2 ms | a | b | H* |" % " | ".join("H %g" % h for h in names), "|:--|:--|%s--:|--:|--:|--:|--:|" % ("--:|" * len(names))]
    for data, implementation in dict.fromkeys((row["data"], row["implementation"]) for row in rows):
        runs = {row["localWork"]: row for row in rows if row["data"] == data and row["implementation"] == implementation}
        cells = ["%.2f / %.3f" % (1e3 * runs[h]["seconds"][0] / runs[h]["rounds"], runs[h]["seconds"][0]) if h in runs else "" for h in names]
        if len(runs) > 2:
            t1, t2 = line([(h, row["seconds"][0] / row["rounds"]) for h, row in runs.items()])
            b, a = line([(1.0 / h, row["rounds"]) for h, row in runs.items()])
            optimum = "%.2f" % (a * t1 / (b * t2)) ** 0.5 if min(a, b, t1, t2) > 0 else "-"
            model = "%.2f | %.2f | %.2f | %.2f | %s" % (1e3 * t1, 1e3 * t2, a, b, optimum)
        else:
            model = " | | | | "
        lines.append("| %s | %s | %s | %s |" % (data, implementation, " | ".join(cells), model))
    return lines


def mini_batch_table(rows):
    lines = ["| data | system | H | rounds to 1e-3 | seconds to 1e-3: median (all) | otherwise |", "|:--|:--|--:|--:|:--|:--|"]
    for row in rows:
        otherwise = "" if row["rounds"] is not None else "%.1e above the optimum after %d rounds, %.1f s" % (row["suboptimality"], row["roundsMade"], row["secondsMade"])
        lines.append("| %s | %s | %g | %s | %s | %s |" % (
            row["data"], row["system"], row["localWork"], "-" if row["rounds"] is None else row["rounds"], thousandths(row["seconds"]), otherwise))
    return lines


def ended(rows):
    """Rows of systems that came to an end, and lines about the others."""
    others = ["%s (%s)" % (row["system"], row.get("corpus") or case(row).replace(" |", ",")) for row in rows if row.get("didNotEnd")]
    return ([row for row in rows if not row.get("didNotEnd")],
            ["", "Programs that did not end, and were killed: %s." % "; ".join("%s, %d times" % (name, others.count(name)) for name in dict.fromkeys(others))] if others else [])


def case(row):
    return "%s | %s | %g" % (row["data"], row["loss"], row["l2"])


def number(value, form):
    return "-" if value is None else form % value


def ma_sgd_table(rows):
    """Rows with a measure are comparisons, the others histories."""
    rows, endless = ended(rows)
    histories, goals = [row for row in rows if "measure" not in row], [row for row in rows if "measure" in row]
    lines = ["Data: %s." % "; ".join(dict.fromkeys("%s %d x %d, %d nonzeros" % (row["data"], row["rows"], row["features"], row["nonzeros"]) for row in histories)), "",
             "Where each system comes to; steps are rounds of communication, or passes over the data:", "",
             "| data | loss | l2 | system | step size | steps | seconds | of learning | objective | held-out loss: last (best) | held-out error |",
             "|:--|:--|--:|:--|--:|--:|--:|--:|--:|--:|--:|"]
    for row in histories:
        held_out = [loss for loss in row["heldOutLosses"] if loss is not None]
        lines.append("| %s | %s | %s | %g %s | %.2f | %.2f | %s | %s (%s) | %.4f |" % (
            case(row), row["system"], number(row["stepSize"], "%.3g"), row["steps"][-1], row["unit"], row["seconds"][-1], row["learningSeconds"][-1],
            number(row["objectives"][-1], "%.6f"), number(row["heldOutLosses"][-1], "%.6f"), number(min(held_out, default=None), "%.6f"),
            row["heldOutErrors"][-1]))
    lines += ["", "To where another system comes: the objective at the end of MLlib's SGD (goals: 100 times fewer rounds, 20 times fewer seconds), or",
              "within 1e-3 of the best held-out loss of a program on one node (goal: fewer seconds of learning, with the rows in each system's",
              "own form at the start; seconds of whole fits are from a cached DataFrame).", "",
              "| data | loss | l2 | target | of | its steps, seconds | by | rounds, seconds, of learning | rounds: times fewer | seconds | of learning | goal |",
              "|:--|:--|--:|--:|:--|--:|:--|--:|--:|--:|--:|:--|"]
    for row in goals:
        lines.append("| %s | %s %s | %s | %s, %s | %s | %s, %s, %s | %s | %s | %s | %s |" % (
            case(row), row["measure"], number(row["target"], "%.6f"), row["peer"], number(row["peerSteps"], "%g"), number(row["peerSeconds"], "%.2f"),
            row["system"], number(row["steps"], "%g"), number(row["seconds"], "%.2f"), number(row["learningSeconds"], "%.2f"),
            number(row["roundsRatio"], "%.3g"), number(row["secondsRatio"], "%.3g"), number(row["learningRatio"], "%.3g"), "met" if row["met"] else "missed"))
    return lines + endless


def scaling_table(rows):
    rows, endless = ended(rows)
    lines = ["| data | loss | l2 | system | partitions | rounds to the target | seconds to it | of learning | seconds a round | best objective |",
             "|:--|:--|--:|:--|--:|--:|--:|--:|--:|--:|"]
    for row in rows:
        lines.append("| %s | %s | %d | %s | %s | %s | %.3f | %.6f |" % (
            case(row), row["system"], row["workers"], number(row["roundsToTarget"], "%g"), number(row["secondsToTarget"], "%.2f"),
            number(row["learningSecondsToTarget"], "%.2f"), row["learningSeconds"][-1] / row["steps"][-1], min(objective for objective in row["objectives"] if objective is not None)))
    return lines + endless


def sections_table(rows):
    lines = ["| task | classes | rows | system | rounds | seconds: median (all) | held-out accuracy | at least that of Spark, to three digits |", "|:--|--:|--:|:--|--:|:--|--:|:--|"]
    for row in rows:
        lines.append("| %s | %d | %d | %s | %d | %s | %.4f | %s |" % (
            row["task"], row["classes"], row["rows"], row["system"], row["rounds"], seconds_text(row["seconds"]), row["accuracy"],
            {True: "yes", False: "NO", None: ""}[row["met"]]))
    return lines


def groups(rows, *names):
    """Rows by these of their numbers, in the order of the first of each."""
    found = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    return found


def topics_table(rows):
    """Rows with a measure are comparisons, those with a table parts of it, the others histories; medians are over the seeds."""
    rows, endless = ended(rows)
    histories, goals = [row for row in rows if "measure" not in row and "table" not in row], [row for row in rows if "measure" in row]

    def of_table(name):
        return [row for row in rows if row.get("table") == name]
    lines = ["Corpora: %s." % "; ".join(dict.fromkeys("%s %d documents, %d words of a vocabulary of %d, %d nonzeros%s" % (
                 row["corpus"], row["documents"], row["words"], row["vocabulary"], row["nonzeros"],
                 "" if row["oracle"] is None else ", perplexity of the planted topics %.0f" % row["oracle"]) for row in histories)), "",
             "Perplexity of the held-out halves of documents on the way; medians over %d seeds:" % len({row["seed"] for row in histories}), "",
             "| corpus | K | system | documents visited | rounds | CPU seconds of all processes | seconds | documents a CPU second | perplexity | load before |",
             "|:--|--:|:--|--:|--:|--:|--:|--:|--:|--:|"]
    for (corpus, topics, system), runs in groups(histories, "corpus", "topics", "system").items():
        for i, documents in enumerate(runs[0]["documentsVisited"]):
            cpu = middle([run["cpuSeconds"][i] for run in runs])
            rounds = "%d" % middle([run["rounds"][i] for run in runs]) if runs[0]["rounds"] else ""
            lines.append("| %s | %d | %s | %d | %s | %.2f | %.2f | %.0f | %.1f | %.1f |" % (
                corpus, topics, system, documents, rounds, cpu, middle([run["seconds"][i] for run in runs]), documents / cpu,
                middle([run["perplexities"][i] for run in runs]), max(run["load"] for run in runs)))
    lines += ["", "Times that a peer needs as much as Dwell, to the perplexity that the peer has at the end (beside tomotopy: that both reach); documents a CPU",
              "second are times that Dwell has as many; perplexity is the peer's by Dwell's, after as many documents.", "",
              "| corpus | K | system | peer | measure | goal | times: median (all seeds) | |", "|:--|--:|:--|:--|:--|--:|--:|:--|"]
    for (corpus, topics, system, peer, measure), runs in groups(goals, "corpus", "topics", "system", "peer", "measure").items():
        ratios = [run["ratio"] for run in runs]
        reached = None not in ratios
        lines.append("| %s | %d | %s | %s | %s | %g | %s | %s |" % (
            corpus, topics, system, peer, measure, runs[0]["goal"], seconds_text(ratios if reached else []),
            "met" if reached and middle(ratios) >= runs[0]["goal"] else "missed"))
    return lines + perplexity_by_round(histories) + same_seconds(of_table("documents in the same seconds")) + \
        same_perplexity(of_table("rounds to the same perplexity")) + endless


def perplexity_by_round(histories):
    """Table 2 of Guo et al. 2021: of systems whose workers come together, where two of them at least have visited as many documents."""
    lines = []
    together = [row for row in histories if row.get("documentsARound")]
    for (corpus, topics), rows in groups(together, "corpus", "topics").items():
        systems = groups(sorted(rows, key=lambda row: (row["averages"], row["documentsARound"])), "system")
        visits = [documents for runs in systems.values() for documents in runs[0]["documentsVisited"]]
        common = sorted({documents for documents in visits if visits.count(documents) > 1})
        if not common:
            continue
        lines += ["", "Perplexity by the documents of a round, %s, K = %d: one step on all of them (SVI with that batch), or many on each worker and an" % (corpus, topics),
                  "average (table 2 of Guo et al. 2021). Rounds that are too long for workers to stay together are cut.", "",
                  "| system | a round is | documents of a round, asked for | on average | %s |" % " | ".join("after %d" % documents for documents in common),
                  "|:--|:--|--:|--:|%s" % ("--:|" * len(common))]
        for (system,), runs in systems.items():
            def perplexity(documents):
                at = [run["perplexities"][run["documentsVisited"].index(documents)] for run in runs if documents in run["documentsVisited"]]
                return "%.1f" % middle(at) if at else ""
            first = runs[0]
            lines.append("| %s | %s | %d | %.0f | %s |" % (
                system, "an average" if first["averages"] else "one step", first["documentsARound"], first["documentsVisited"][-1] / first["rounds"][-1],
                " | ".join(perplexity(documents) for documents in common)))
    return lines


def same_seconds(rows):
    """Table 5."""
    lines = ["", "Documents that each system has visited when the first one has come to its last checkpoint, in proportion between checkpoints (table 5):", "",
             "| corpus | K | system | seconds | documents |", "|:--|--:|:--|--:|--:|"]
    for (corpus, topics, system), runs in groups(rows, "corpus", "topics", "system").items():
        lines.append("| %s | %d | %s | %.2f | %.0f |" % (
            corpus, topics, system, middle([run["seconds"] for run in runs]), middle([run["documentsVisited"] for run in runs])))
    return lines if rows else []


def same_perplexity(rows):
    """Figure 6."""
    lines = ["", "What systems need to get to where one of them comes at the end (figure 6):", "",
             "| corpus | K | perplexity | of | system | rounds | seconds |", "|:--|--:|--:|:--|:--|--:|--:|"]
    for (corpus, topics, peer, system), runs in groups(rows, "corpus", "topics", "peer", "system").items():
        reached = all(run["rounds"] is not None for run in runs)
        cells = "%d | %.2f" % tuple(middle([run[name] for run in runs]) for name in ("rounds", "seconds")) if reached else "not reached | "
        lines.append("| %s | %d | %.1f | %s | %s | %s |" % (corpus, topics, middle([run["target"] for run in runs]), peer, system, cells))
    return lines if rows else []


def place(row):
    return "%s, %s | %d x %d" % (row["data"], row["stored"], row["rows"], row["features"])


def ratios(some, others):
    """Run by run: median."""
    return "%.2f" % middle([a / b for a, b in zip(some, others)])


def reading_table(rows):
    """Bytes are of the form of the solvers, or of the rows as read; the peak is of all cached blocks."""
    lines = ["| data | rows x features | step | Spark's scan s: median (all) | seconds: median (all) | seconds / scan, run by run: median | bytes an entry held | peak in memory / held | at the end in memory / held | on disk / held |",
             "|:--|--:|:--|--:|--:|--:|--:|--:|--:|--:|"]
    for row in rows:
        held = row["heldBytes"]
        lines.append("| %s | %s | %s | %s | %s | %.1f | %s |" % (
            place(row), row["step"], thousandths(row["scanSeconds"]), thousandths(row["seconds"]), ratios(row["seconds"], row["scanSeconds"]),
            held / row["entries"], " | ".join("%.2f" % (row[name] / held) for name in ("peakMemoryBytes", "memoryBytes", "diskBytes"))))
    return lines


def anatomy_table(rows):
    """Seconds are medians of each phase by itself, so they add up to the total only about."""
    phases = ["reading", "setUp", "workers", "leader", "transport", "model", "rest"]
    lines = ["| data | rows x features | estimator | by | rounds | gap | seconds: median (all) | reading | set-up | workers | leader | transport | model | rest | Spark's scan | scan + workers | fit / (scan + workers) | leader's share of the rounds | Spark's own fit |",
             "|:--|--:|:--|:--|--:|--:|--:|" + "--:|" * 12]
    for row in rows:
        least = [scan + workers for scan, workers in zip(row["scanSeconds"], row["workers"])]
        share = middle([leader / (leader + workers + transport) for leader, workers, transport in zip(row["leader"], row["workers"], row["transport"])])
        by = ", ".join(filter(None, [row["algorithm"], row["orientation"], "%d workers" % row["workerCount"]]))
        lines.append("| %s | %s | %s | %d%s | %s | %s | %s | %.3f | %.3f | %s | %.1f%% | %s |" % (
            place(row), row["estimator"], by, row["rounds"], "" if row["converged"] else ", not converged", number(row["relativeGap"], "%.1e"),
            seconds_text(row["total"]), " | ".join("%.3f" % middle(row[phase]) for phase in phases), middle(row["scanSeconds"]), middle(least),
            ratios(row["total"], least), 100.0 * share, seconds_text(row["sparkSeconds"]) if row["sparkSeconds"] else ""))
    return lines


def cell(text, bad):
    return "**%s**" % text if bad else text


def every_fit_table(rows):
    """Bold: slower than Spark, or an objective more than 1e-7 above Spark's, relative to it."""
    lines = ["| rows | fit | executors of | Dwell s: median (all) | Spark s: median (all) | times | objective above Spark's, relative | by | rounds | gap | reading | set-up | workers | leader | transport | model |",
             "|:--|:--|--:|--:|--:|--:|--:|:--|--:|--:|" + "--:|" * 6]
    ratios, worse = [], 0
    for row in rows:
        by = "failed: " + row["failed"] if row["failed"] else "Spark: " + row["reason"].split(", ")[0] if row["reason"] else \
            ", ".join(filter(None, [row["algorithm"], row["orientation"]])) + ("" if row["converged"] else ", not converged")
        ratio = None
        if row["seconds"] and row["sparkSeconds"] and not row["failed"]:
            ratio = middle(row["sparkSeconds"]) / middle(row["seconds"])
            ratios.append(ratio)
        above = row["excess"] is not None and row["excess"] > 1e-7
        worse += above
        phases = [row[name] for name in ("reading", "setUp", "workers", "leader", "transport", "modelSeconds")]
        lines.append("| %s | %s | %d MB | %s | %s | %s | %s | %s | %s | %s | %s |" % (
            row["rows"], row["fit"], row["memory"], seconds_text(row["seconds"]), seconds_text(row["sparkSeconds"]),
            "" if ratio is None else cell("%.2f" % ratio, ratio < 1), cell(number(row["excess"], "%.1e"), above), by,
            "" if row["rounds"] is None or row["reason"] else row["rounds"], number(row["relativeGap"], "%.1e"),
            " | ".join("" if spent is None or row["reason"] else "%.2f" % spent for spent in phases)))
    if ratios:
        product = 1.0
        for ratio in ratios:
            product *= ratio ** (1.0 / len(ratios))
        lines += ["", "%d cells: geometric mean %.2f times, least %.2f; below 1: %d; objectives above Spark's by more than 1e-7: %d." % (
            len(rows), product, min(ratios), sum(ratio < 1 for ratio in ratios), worse)]
    return lines


def tall_peers_table(rows):
    """Seconds of whole fits, reading included, and times that a system needs as many as Dwell; the least objective of a fit is the one to compare with."""
    lines = ["| rows | fit | system | seconds: median (all) | times Dwell's seconds | objective above the least, relative |", "|:--|:--|:--|--:|--:|--:|"]
    for fit in groups(rows, "rows", "fit").values():
        least = min(row["objective"] for row in fit if not row["failed"])
        ours = [row["seconds"] for row in fit if row["system"] == "dwell" and not row["failed"]]
        for row in fit:
            cells = ("failed: " + row["failed"].split("\n")[0], "", "") if row["failed"] else (
                seconds_text(row["seconds"]), "%.2f" % (middle(row["seconds"]) / middle(ours[0])) if ours else "",
                "%.1e" % ((row["objective"] - least) / abs(least)))
            lines.append("| %s | %s | %s | %s | %s | %s |" % ((row["rows"], row["fit"], row["system"]) + cells))
    return lines


TABLES = {"benchRounds": ("Rounds", rounds_table), "benchIntercept": ("Rounds with an intercept", intercept_table),
          "benchLocalWork": ("Local work", local_work_table),
          "benchClassification": ("Classification", classification_table), "benchExchange": ("Exchange", exchange_table),
          "benchTuning": ("Grid searches", tuning_table), "benchReferences": ("Implementations", references_table),
          "benchMiniBatch": ("Mini-batches", mini_batch_table), "benchMaSgd": ("MA-SGD", ma_sgd_table),
          "benchMaSgdScaling": ("MA-SGD over partitions", scaling_table), "benchSections": ("Sections of packages", sections_table),
          "benchNetworks": ("Networks", networks_table), "benchTopics": ("Topics", topics_table), "benchReading": ("Reading", reading_table),
          "benchAnatomy": ("Whole fits by phase", anatomy_table), "benchEveryFit": ("Every fit", every_fit_table),
          "benchPeers": ("Whole fits beside other programs", tall_peers_table)}


def pages(stem, rows):
    """Name, title and lines of each page for a result. Topics have a page for each corpus and number of topics."""
    title, table = TABLES[stem]
    if stem != "benchTopics":
        return [(stem, title, table(rows))]
    return [("%s-%s-%d" % (stem, corpus, topics), "%s: %s, K = %d" % (title, corpus, topics), table(some))
            for (corpus, topics), some in groups(rows, "corpus", "topics").items()]


def write_pages(directory, stem, rows):
    """Writes the pages of a result, and returns the lines of README.md that link to them."""
    links = []
    for name, title, lines in pages(stem, rows):
        page = ["# %s" % title, "", "What the tables show, the command and the machine are in [README.md](README.md).", "", *lines]
        (directory / (name + ".md")).write_text("\n".join(page) + "\n")
        links.append("- [%s](%s.md)" % (title, name))
    return links


def main(directory, command, versions, files):
    about = machine()
    directory.mkdir(parents=True, exist_ok=True)
    readme = directory / "README.md"
    head = readme.read_text().split("## Tables")[0].rstrip() if readme.is_file() else "# Benchmarks on Spark, %s" % about["date"]
    page = [head, "", "## Tables", "", "`%s`" % command, "",
            "%s, %d cores, %s GiB, %s; %s; commit %s." % (about["cpu"], about["cores"], about["memory_gib"], about["system"], versions, about["commit"]), ""]
    parts = {}
    for file in files:
        rows = json.loads(file.read_text())
        # A part of a benchmark has a name of its own after a hyphen, and one table shows all parts.
        parts.setdefault(file.stem.split("-")[0], []).extend(rows)
        for chart in file.parent.glob(file.stem + "-*.html"):
            shutil.copy(chart, directory)
        (directory / file.name).write_text(json.dumps({"machine": about, "results": rows}, indent=1) + "\n")
    for stem, rows in parts.items():
        page += write_pages(directory, stem, rows)
    readme.write_text("\n".join(page) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], [pathlib.Path(argument) for argument in sys.argv[4:]])
