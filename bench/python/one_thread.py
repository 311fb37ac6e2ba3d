#!/usr/bin/env python3
"""Local solver of Dwell beside liblinear and Snap ML: one thread, one partition, the same objective, the same accuracy.

    one_thread.py LIBRARY DATA RESULT.json [--sets NAME,...] [--losses NAME,...] [--repetitions 5] [--packages packages.tsv]

LIBRARY is libdwell.so, called through its C interface. DATA has a directory for each set, as bench/rust/kernels.rs writes
them; a reference solution is kept in it. With --packages the descriptions of Debian's packages are one more set.

The objective is sum_i loss(x_i.w; y_i) + |w|^2 / 2: lambda is 1, there is no intercept, nothing is standardised. Each contestant
gets the loosest of a ladder of settings with which its final w, judged by one evaluator in double precision, has a relative
suboptimality (P(w) - P*) / P* of at most the target. P* is our own dual solver's, to a relative gap of 1e-9.

Seconds are those of the processor, of the call that trains and of what it needs beforehand that is not a mere conversion: row
norms for Dwell. Repetitions are interleaved.
"""

import argparse
import ctypes
import json
import os
import pathlib
import re
import sys
import time
from importlib import metadata

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[threads] = "1"

import numpy as np
import scipy
import scipy.sparse as sparse
from dwell_abi import Columns, Library, Matrix, Round, Rows
from liblinear import liblinear as lib

try:
    import snapml
except ImportError:
    snapml = None

LAMBDA = 1.0
TARGETS = (1e-3, 1e-4)
REFERENCE_GAP = 1e-9
# After as many the gap is what it is, and stands in the result.
REFERENCE_PASSES = 1000
# Nobody needs more for 1e-4 on data worth quoting; who does is reported as not reaching it.
MOST_PASSES = 100
# One by one, then by tenths: every setting is a run from the start.
PASSES = list(range(1, 21)) + [round(20 * 1.1 ** k) for k in range(1, 17)] + [MOST_PASSES]


# ---------------------------------------------------------------------------------------------------------------
# Objectives

def loss_sum(loss, z, y):
    if loss == "ridge":
        return 0.5 * np.dot(z - y, z - y)
    if loss == "hinge":
        return np.maximum(0, 1 - y * z).sum()
    return np.logaddexp(0, -y * z).sum()


def conjugate_sum(loss, a, y):
    """Sum of loss*(-a)."""
    if loss == "ridge":
        return 0.5 * np.dot(a, a) - np.dot(a, y)
    p = y * a
    if loss == "hinge":
        return -p.sum()
    return scipy.special.xlogy(p, p).sum() + scipy.special.xlog1py(1 - p, -p).sum()


class Data:
    """Rows as they are trained on, and what the contestants read, which is made once and not charged."""

    def __init__(self, name, rows, labels):
        self.name, self.rows, self.labels = name, rows, labels
        self.shape, self.nonzeros = rows.shape, rows.nnz
        self.exact = sparse.csr_matrix((rows.data.astype(np.float64), rows.indices, rows.indptr), rows.shape)
        columns = rows.tocsc()
        # As partitions are stored: columns of 1 to 8 entries first, each length together.
        lengths = np.diff(columns.indptr)
        self.order = np.argsort(np.minimum(lengths, 9), kind="stable")
        self.sorted_columns = columns[:, self.order]
        self.columns = columns
        self._problems = {}

    def y(self, loss):
        return self.labels if loss == "ridge" else np.where(self.labels > 0, 1.0, -1.0)

    def objective(self, loss, w):
        return loss_sum(loss, self.exact @ w, self.y(loss)) + 0.5 * LAMBDA * np.dot(w, w)

    def liblinear_problem(self, loss):
        kind = "ridge" if loss == "ridge" else "classes"
        if kind not in self._problems:
            self._problems = {kind: lib.problem(self.y(loss), self.rows)}
        return self._problems[kind]


def generated(directory):
    def read(name, kind):
        return np.fromfile(directory / name, dtype=kind)
    offsets, indices = read("offsets", "<i4"), read("indices", "<i4")
    shape = (len(offsets) - 1, int(indices.max()) + 1)
    return Data(directory.name, sparse.csr_matrix((read("values", "<f4"), indices, offsets), shape), read("labels", "<f8"))


def packages(path):
    """Libraries (1) against all other packages (-1): words and pairs of words of the descriptions, tf-idf, rows of unit norm."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    rows = [line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8")]
    words = TfidfVectorizer(ngram_range=(1, 2), dtype=np.float32).fit_transform([row[3] for row in rows])
    words.sort_indices()
    labels = np.array([1.0 if row[1].split("/")[-1] in ("libs", "libdevel") else -1.0 for row in rows])
    described = np.diff(words.indptr) > 0
    return Data("packages", sparse.csr_matrix(words[described]), labels[described])


# ---------------------------------------------------------------------------------------------------------------
# Dwell, by the C interface

class Dwell:
    CODES = {"ridge": 0, "logistic": 1, "hinge": 2}

    def __init__(self, path):
        self.library = Library(path)

    @staticmethod
    def norms(compressed):
        """Sum of squares of each row of a matrix by rows, or of each column of one by columns; none is empty."""
        offsets, norms = compressed.indptr, np.empty(len(compressed.indptr) - 1)
        first = 0
        while first < len(norms):
            # Blocks whose squares stay in the cache.
            last = max(first + 1, np.searchsorted(offsets, offsets[first] + 30_000, side="right") - 1)
            squares = np.square(compressed.data[offsets[first]:offsets[last]], dtype=np.float64)
            norms[first:last] = np.add.reduceat(squares, offsets[first:last] - offsets[first])
            first = last
        return norms

    @staticmethod
    def settings(m, budget):
        return Round(1.0, LAMBDA / m, m, 1, budget, 0, 1)

    def dual(self, data, loss, budget, alpha=None, cursor=0, w=None, norms=None):
        """From zero, or on from `alpha` and `w`: alpha, w and the cursor after at least `budget` rows."""
        rows, (m, n) = data.rows, data.shape
        fresh = alpha is None
        if fresh:
            alpha, w = np.zeros(m), np.zeros(n)
        norms = self.norms(rows) if norms is None else norms
        y = data.y(loss)
        lent = Rows(Matrix(m, n, rows.nnz, rows.indptr.ctypes.data, rows.indices.ctypes.data, rows.data.ctypes.data, None),
                    y.ctypes.data, None, norms.ctypes.data, None)
        delta, update, cursor = self.library.dual_round(lent, self.settings(m, budget), self.CODES[loss], alpha, cursor, w)
        return (delta, update, cursor) if fresh else (alpha + delta, w + update, cursor)

    def primal(self, data, budget):
        """Ridge regression by columns from zero; `budget` counts columns. Coefficients in the order of the sorted columns."""
        columns, (m, n) = data.sorted_columns, data.shape
        # Without centring only variance + mean^2 matters.
        variance = self.norms(columns) / m
        mean, deviation = np.zeros(n), np.sqrt(variance)
        lent = Columns(Matrix(n, m, columns.nnz, columns.indptr.ctypes.data, columns.indices.ctypes.data, columns.data.ctypes.data, None),
                       mean.ctypes.data, variance.ctypes.data, deviation.ctypes.data, None)
        delta, _, _ = self.library.primal_round(lent, self.settings(m, budget), 0.0, np.zeros(n), 0, data.labels)
        return delta


# ---------------------------------------------------------------------------------------------------------------
# Contestants: a ladder of settings from loose to tight, and a run that gives w, seconds and passes

class DwellDual:
    name, ladder = "dwell dual", PASSES

    def __init__(self, dwell, data, loss):
        self.dwell, self.data, self.loss = dwell, data, loss

    def run(self, passes):
        start = time.process_time()
        _, w, _ = self.dwell.dual(self.data, self.loss, passes * self.data.shape[0])
        return w, time.process_time() - start, passes


class DwellPrimal:
    name, ladder = "dwell primal", PASSES

    def __init__(self, dwell, data):
        self.dwell, self.data = dwell, data

    def run(self, passes):
        start = time.process_time()
        delta = self.dwell.primal(self.data, passes * self.data.shape[1])
        seconds = time.process_time() - start
        w = np.empty_like(delta)
        w[self.data.order] = delta
        return w, seconds, passes


class Liblinear:
    SOLVERS = {"hinge": "-s 3", "logistic": "-s 7", "ridge": "-s 12 -p 0"}
    ladder = [10.0 ** (-k / 6) for k in range(-6, 31)]

    def __init__(self, data, loss):
        self.problem = data.liblinear_problem(loss)
        cost = 1 / (2 * LAMBDA) if loss == "ridge" else 1 / LAMBDA
        self.options = "%s -c %r -q" % (self.SOLVERS[loss], cost)
        self.name = "liblinear " + self.SOLVERS[loss]
        self.printed = []
        self.listener = lib.PRINT_STRING_FUN(lambda text: self.printed.append(text.decode()))

    def run(self, tolerance):
        parameter = lib.parameter("%s -e %r" % (self.options, tolerance))
        lib.liblinear.set_print_string_function(self.listener)
        # Its order is drawn from rand().
        ctypes.CDLL(None).srand(1)
        self.printed.clear()
        start = time.process_time()
        model = lib.liblinear.train(self.problem, parameter)
        seconds = time.process_time() - start
        w = np.ctypeslib.as_array(model.contents.w, (self.problem.n,)).copy()
        passes = re.search(r"#iter = (\d+)", "".join(self.printed))
        lib.liblinear.free_and_destroy_model(ctypes.pointer(model))
        return w, seconds, int(passes.group(1))


class SnapML:
    ladder = PASSES

    def __init__(self, data, loss, dual):
        self.name = "snapml " + ("dual" if dual else "primal")
        self.matrix = data.rows if dual else data.columns
        self.y = data.y(loss)
        kind = {"hinge": snapml.SupportVectorMachine, "logistic": snapml.LogisticRegression, "ridge": snapml.LinearRegression}[loss]
        self.make = lambda passes: kind(max_iter=passes, regularizer=LAMBDA, tol=0.0, n_jobs=1, fit_intercept=False, random_state=1,
                                        **({} if loss == "hinge" else {"dual": dual}))

    def run(self, passes):
        model = self.make(passes)
        train, seconds = model.c_fit, []

        def timed(*arguments):
            start = time.process_time()
            result = train(*arguments)
            seconds.append(time.process_time() - start)
            return result
        # Conversion of the matrix in Python comes before this and is not counted.
        model.c_fit = timed
        model.fit(self.matrix, self.y)
        return np.asarray(model.coef_, dtype=np.float64).ravel(), seconds[0], passes


# ---------------------------------------------------------------------------------------------------------------
# The measurement

def reference(dwell, data, loss, directory):
    """P*, and the relative gap that it is known to."""
    kept = directory / ("reference-%s-%s.json" % (data.name, loss))
    if kept.is_file():
        return json.loads(kept.read_text())
    y, (m, _), norms = data.y(loss), data.shape, dwell.norms(data.rows)
    alpha, w, cursor, passes, chunk = None, None, 0, 0, 5
    while True:
        alpha, _, cursor = dwell.dual(data, loss, chunk * m, alpha, cursor, w, norms)
        passes += chunk
        w = data.exact.T @ alpha / LAMBDA
        primal = data.objective(loss, w)
        dual = -conjugate_sum(loss, alpha, y) - 0.5 * LAMBDA * np.dot(w, w)
        gap = (primal - dual) / primal
        if gap <= REFERENCE_GAP or passes >= REFERENCE_PASSES:
            break
        chunk = min(2 * chunk, 100)
    found = {"objective": primal, "gap": gap, "passes": passes}
    kept.write_text(json.dumps(found) + "\n")
    return found


def loosest(contestant, suboptimality):
    """For each target the first setting that reaches it, or nothing."""
    found = {}
    for setting in contestant.ladder:
        w, _, passes = contestant.run(setting)
        reached = suboptimality(w)
        for target in TARGETS:
            if reached <= target and target not in found:
                found[target] = setting
        if len(found) == len(TARGETS) or passes > MOST_PASSES:
            break
    return found


def median(numbers):
    return sorted(numbers)[len(numbers) // 2]


def compare(dwell, data, loss, repetitions, directory):
    best = reference(dwell, data, loss, directory)
    print("%s %s: P* %.9g, gap %.1e after %d passes" % (data.name, loss, best["objective"], best["gap"], best["passes"]), flush=True)

    def suboptimality(w):
        return (data.objective(loss, w) - best["objective"]) / best["objective"]
    contestants = [DwellDual(dwell, data, loss), Liblinear(data, loss)]
    if snapml:
        contestants += [SnapML(data, loss, dual) for dual in ((True,) if loss == "hinge" else (True, False))]
    if loss == "ridge":
        contestants.append(DwellPrimal(dwell, data))
    settings = {contestant.name: loosest(contestant, suboptimality) for contestant in contestants}
    rows = []
    for target in TARGETS:
        runs = {contestant.name: [] for contestant in contestants}
        load = [os.getloadavg()[0]]
        for _ in range(repetitions):
            for contestant in contestants:
                setting = settings[contestant.name].get(target)
                if setting is not None:
                    w, seconds, passes = contestant.run(setting)
                    runs[contestant.name].append((seconds, passes, suboptimality(w)))
        load.append(os.getloadavg()[0])
        for contestant in contestants:
            made = runs[contestant.name]
            row = {"data": data.name, "loss": loss, "target": target, "solver": contestant.name, "setting": settings[contestant.name].get(target),
                   "passes": made[0][1] if made else None, "seconds": [seconds for seconds, _, _ in made],
                   "suboptimality": max((reached for _, _, reached in made), default=None), "load": load,
                   "reference_gap": best["gap"], "objective": best["objective"]}
            rows.append(row)
            print("  %g %-24s %s" % (target, contestant.name, "passes %3d  %.3f s  %.2e" % (row["passes"], median(row["seconds"]), row["suboptimality"])
                                     if made else "not reached"), flush=True)
    return rows


def setup(dwell, data, repetitions):
    """Seconds of what precedes the first epoch, and of an epoch, with the hinge."""
    rows = data.shape[0]
    norms = dwell.norms(data.rows)
    seconds = {"norms": [], "one bucket": [], "1 pass": [], "5 passes": []}

    def timed(name, work):
        start = time.process_time()
        work()
        seconds[name].append(time.process_time() - start)
    for _ in range(repetitions):
        timed("norms", lambda: dwell.norms(data.rows))
        # Checks every entry, copies, and sums the values: what a call costs without an epoch.
        timed("one bucket", lambda: dwell.dual(data, "hinge", 1, norms=norms))
        timed("1 pass", lambda: dwell.dual(data, "hinge", rows, norms=norms))
        timed("5 passes", lambda: dwell.dual(data, "hinge", 5 * rows, norms=norms))
    return {"data": data.name, "rows": rows, "features": data.shape[1], "nonzeros": data.nonzeros, "seconds": seconds}


def main():
    options = argparse.ArgumentParser(usage=__doc__)
    options.add_argument("library", type=pathlib.Path)
    options.add_argument("data", type=pathlib.Path)
    options.add_argument("result", type=pathlib.Path)
    options.add_argument("--sets", default="news20-like,url-like")
    options.add_argument("--losses", default="hinge,logistic,ridge")
    options.add_argument("--repetitions", type=int, default=5)
    options.add_argument("--packages", type=pathlib.Path)
    given = options.parse_args()
    dwell = Dwell(given.library)
    names = [name for name in given.sets.split(",") if name]
    if given.packages and given.packages.is_file() and given.packages.stat().st_size > 0:
        names.append("packages")
    versions = {name: metadata.version(name) for name in ("liblinear-official", "numpy", "scipy") + (("snapml",) if snapml else ())}
    result = {"versions": dict(versions, python=sys.version.split()[0]), "setup": [], "solves": []}
    for name in names:
        data = packages(given.packages) if name == "packages" else generated(given.data / name)
        print("%s: %d rows, %d features, %d entries" % (name, *data.shape, data.nonzeros), flush=True)
        result["setup"].append(setup(dwell, data, given.repetitions))
        for loss in given.losses.split(","):
            if name == "packages" and loss == "ridge":
                continue
            result["solves"] += compare(dwell, data, loss, given.repetitions, given.data)
            given.result.write_text(json.dumps(result, indent=1) + "\n")
        del data


if __name__ == "__main__":
    main()
