"""The reference implementations with pySpark: the two local solvers against each other and the optimum, and the program against a
plain loop.

DWELL_LIBRARY is the native library, SPARK_HOME a Spark distribution; the Python that runs this needs NumPy.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "bench" / "python" / "reference"
ABI = ROOT / "bench" / "python" / "dwell_abi.py"
sys.path[:0] = [str(REFERENCE), str(ABI.parent)]

import order  # noqa: E402  (the path has to be set first)
import partitions  # noqa: E402
from native_solver import NativeSolver  # noqa: E402
from numpy_solver import NumpySolver  # noqa: E402

LIBRARY = os.environ["DWELL_LIBRARY"]
SPARK_HOME = pathlib.Path(os.environ["SPARK_HOME"])

# Relative difference of sums of a few hundred numbers in another order.
SAME = 1e-12
# The rise that rounding may cause in an objective that stands still.
STANDSTILL = 1e-14
# Relative distance from the optimum after so many rounds that only rounding remains.
OPTIMUM = 1e-9

ROWS = 150
# So many that in a single partition a bucket holds more than one column.
FEATURES = 600
KINDS = ("float32", "float64", "ones")
# Partitions of unequal length, one of them with an incomplete bucket.
SPLITS = {1: [0, FEATURES], 2: [0, 250, FEATURES], 3: [0, 100, 230, FEATURES]}
RIDGE, ELASTIC_NET = (0.0, 0.3), (0.05, 0.2)


class Written:
    """A random sparse problem in `directory`, and the same problem as a dense matrix."""

    def __init__(self, directory, count, l1, l2):
        random = np.random.default_rng(17)
        self.l1, self.l2 = l1, l2
        self.labels = random.standard_normal(ROWS)
        self.dense = np.zeros((ROWS, FEATURES))
        self.splits = list(zip(SPLITS[count], SPLITS[count][1:]))
        parts = []
        for number, (first, last) in enumerate(self.splits):
            # Every partition has a kind of values, which changes with the count.
            kind = KINDS[(number + count) % len(KINDS)]
            offsets, indices, values = [0], [], []
            for column in range(first, last):
                # Some columns are empty.
                rows = np.sort(random.choice(ROWS, random.integers(0, 12), replace=False))
                entries = np.ones(len(rows)) if kind == "ones" else random.standard_normal(len(rows)).astype(kind)
                self.dense[rows, column] = entries
                indices.extend(rows)
                values.extend(entries)
                offsets.append(len(indices))
            block = self.dense[:, first:last]
            arrays = {"offsets.i32": np.array(offsets, "<i4"), "indices.i32": np.array(indices, "<i4"), "mean.f64": block.mean(axis=0),
                      "variance.f64": block.var(axis=0), "deviation.f64": block.std(axis=0)}
            if kind != "ones":
                arrays["values.f32" if kind == "float32" else "values.f64"] = np.array(values, kind)
            for name, array in arrays.items():
                array.tofile(directory / ("part-%d.%s" % (number, name)))
            parts.append({"columns": last - first, "nonzeros": len(indices), "values": kind})
        self.labels.tofile(directory / "labels.f64")
        (directory / "problem.json").write_text(json.dumps({
            "rows": ROWS, "features": FEATURES, "partitions": count, "l1": l1, "l2": l2, "totalWeight": float(ROWS), "sigmaPrime": float(count),
            "seed": -5, "parts": parts}))

    def objective(self, alpha):
        residual = self.labels - self.dense @ alpha
        return residual @ residual / (2 * ROWS) + self.l1 * np.abs(alpha).sum() + 0.5 * self.l2 * alpha @ alpha

    def ridge(self):
        return np.linalg.solve(self.dense.T @ self.dense / ROWS + self.l2 * np.eye(FEATURES), self.dense.T @ self.labels / ROWS)


def loop(problem, solvers, local_work, count):
    """Runs the algorithm without Spark; yields coefficients and objective after each round."""
    labels = problem.labels()
    residual = labels
    margins = np.zeros(problem.rows)
    alphas, cursors = [np.zeros(part.columns) for part in problem.parts], [0] * len(problem.parts)
    for _ in range(count):
        penalty = 0.0
        for k, solver in enumerate(solvers):
            delta, update, cursors[k], value = solver.round(alphas[k], cursors[k], residual, problem.budget(k, local_work))
            alphas[k] = alphas[k] + delta
            margins += update
            penalty += value
        residual = labels - margins
        yield np.concatenate(alphas), residual @ residual / (2 * problem.total_weight) + penalty


def both(problem):
    """The local solvers of every partition, in NumPy and native."""
    parts = [problem.partition(k) for k in range(len(problem.parts))]
    return [NumpySolver(problem, part) for part in parts], [NativeSolver(problem, part, LIBRARY) for part in parts]


class Directory(unittest.TestCase):
    """Tests with a directory of their own for the files of a problem."""

    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.directory = pathlib.Path(made.name)

    def problem(self, count, l1, l2):
        return Written(self.directory, count, l1, l2), partitions.read(self.directory)


class Solvers(Directory):
    """The local solvers, NumPy and native, in rounds without Spark."""

    def follow(self, count, local_work, l1, l2, rounds):
        """Checks every round; returns coefficients and objective after the last one."""
        written, problem = self.problem(count, l1, l2)
        last = written.objective(np.zeros(FEATURES))
        numpy_solvers, native_solvers = both(problem)
        for (alpha, objective), (native_alpha, native_objective) in zip(loop(problem, numpy_solvers, local_work, rounds),
                                                                        loop(problem, native_solvers, local_work, rounds), strict=True):
            self.assertLessEqual(abs(objective - native_objective), SAME * objective)
            self.assertLessEqual(np.linalg.norm(alpha - native_alpha), SAME * np.linalg.norm(alpha))
            for a, value in ((alpha, objective), (native_alpha, native_objective)):
                self.assertLessEqual(abs(written.objective(a) - value), SAME * value)
            self.assertLessEqual(objective, last * (1 + STANDSTILL))
            last = objective
        return written, alpha, objective

    def test_ridge_reaches_the_optimum(self):
        for count in SPLITS:
            for local_work in (0.5, 1):
                with self.subTest(partitions=count, local_work=local_work):
                    written, alpha, objective = self.follow(count, local_work, *RIDGE, rounds=200)
                    best = written.ridge()
                    self.assertLessEqual(np.linalg.norm(alpha - best), OPTIMUM * np.linalg.norm(best))
                    self.assertLessEqual(abs(objective - written.objective(best)), OPTIMUM * objective)

    def test_elastic_net_reaches_the_optimum(self):
        for count in SPLITS:
            for local_work in (0.5, 1):
                with self.subTest(partitions=count, local_work=local_work):
                    written, alpha, _ = self.follow(count, local_work, *ELASTIC_NET, rounds=200)
                    # At the optimum the derivative of the smooth part is -l1 sign(a), or at most l1 if a is 0.
                    slope = written.dense.T @ (written.labels - written.dense @ alpha) / ROWS - written.l2 * alpha
                    used = alpha != 0
                    self.assertTrue(0 < used.sum() < FEATURES)
                    self.assertLessEqual(np.abs(slope[used] - written.l1 * np.sign(alpha[used])).max(), OPTIMUM)
                    self.assertLessEqual(np.abs(slope).max(), written.l1 + OPTIMUM)

    def test_no_penalty(self):
        # Without a penalty empty columns have no curvature.
        written, alpha, _ = self.follow(3, 1, 0.0, 0.0, rounds=20)
        self.assertTrue(np.all(alpha[~written.dense.any(axis=0)] == 0))

    def test_partition_without_columns(self):
        _, problem = self.problem(1, *RIDGE)
        nothing = partitions.Partition(0, np.zeros(1, "<i4"), np.zeros(0, "<i4"), None, *[np.zeros(0)] * 3)
        for solver in (NumpySolver(problem, nothing), NativeSolver(problem, nothing, LIBRARY)):
            delta, update, cursor, value = solver.round(np.zeros(0), 0, problem.labels(), 1)
            self.assertEqual((0, 0, 0.0), (len(delta), cursor, value))
            self.assertTrue(np.all(update == 0) and len(update) == ROWS)


class Order(unittest.TestCase):
    """The order in which a partition visits its columns."""

    def test_golden_vectors(self):
        cases = json.loads((ROOT / "tests" / "golden" / "order.json").read_text())["orders"]
        self.assertGreater(len(cases), 0)
        for case in cases:
            buckets = order.BucketOrder(case["coordinates"], case["seed"], case["partition"])
            self.assertEqual((case["bucketSize"], case["buckets"]), (buckets.size, buckets.buckets))
            starts = [buckets.at(case["cursor"] + k)[0] for k in range(len(case["starts"]))]
            self.assertEqual(case["starts"], starts)

    def test_an_epoch_has_every_column_once(self):
        for columns, size in ((1, 1), (700, 2), (1025, 4), (20000, 64)):
            buckets = order.BucketOrder(columns, 3, 1)
            self.assertEqual(size, buckets.size)
            for epoch in (0, 1):
                visited = [column for k in range(buckets.buckets) for column in range(*buckets.at(epoch * buckets.buckets + k))]
                self.assertEqual(list(range(columns)), sorted(visited))


class Files(Directory):
    """The files of a problem."""

    def read_all(self):
        problem = partitions.read(self.directory)
        problem.labels()
        for number in range(len(problem.parts)):
            problem.partition(number)

    def refused(self, *parts):
        with self.assertRaises(partitions.DataError) as caught:
            self.read_all()
        for part in parts:
            self.assertIn(part, str(caught.exception))

    def test_a_missing_file_is_named(self):
        self.problem(3, *RIDGE)
        self.read_all()
        for path in sorted(self.directory.iterdir()):
            with self.subTest(file=path.name):
                content = path.read_bytes()
                path.unlink()
                self.refused(str(path), "missing")
                path.write_bytes(content)

    def test_a_file_of_another_size_is_named(self):
        self.problem(3, *RIDGE)
        for path in sorted(self.directory.glob("*.[if]*")):
            with self.subTest(file=path.name):
                content = path.read_bytes()
                for other in (content[:-1], content + content[:4], b""):
                    path.write_bytes(other)
                    self.refused(str(path), "has %d bytes" % len(other), "are %d" % len(content))
                path.write_bytes(content)

    def test_budget(self):
        _, problem = self.problem(3, *RIDGE)
        self.assertEqual([100, 65, 4, 1], [problem.budget(0, 1), problem.budget(1, 0.5), problem.budget(2, 0.01), problem.budget(0, 1e-9)])

    def test_parts_of_problem(self):
        self.problem(2, *RIDGE)
        path = self.directory / "problem.json"
        said = json.loads(path.read_text())
        path.write_text(json.dumps(dict(said, partitions=3)))
        self.refused(str(path), "2 parts", "3 partitions")
        said["parts"][0]["values"] = "float16"
        path.write_text(json.dumps(said))
        self.refused(str(path), "float16")


class Program(Directory):
    """The program with pySpark."""

    MODULES = [ABI] + [REFERENCE / name for name in ("partitions.py", "order.py", "numpy_solver.py", "native_solver.py", "worker.py")]

    def submit(self, *arguments):
        environment = dict(os.environ, PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable)
        command = [SPARK_HOME / "bin" / "spark-submit", "--master", "local[2]", "--conf", "spark.ui.enabled=false", "--py-files",
                   ",".join(map(str, self.MODULES)), REFERENCE / "train.py", *arguments]
        return subprocess.run(list(map(str, command)), env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)

    def test_histories_are_those_of_the_loop(self):
        _, problem = self.problem(2, *ELASTIC_NET)
        for name, solvers in zip(("numpy", "native"), both(problem)):
            with self.subTest(solver=name):
                output = self.directory / "output.json"
                done = self.submit(name, "--data", self.directory, "--local-work", "0.5,1", "--rounds", 6, "--output", output,
                                   *(["--library", LIBRARY] if name == "native" else []))
                self.assertEqual(0, done.returncode, done.stdout)
                result = json.loads(output.read_text())
                self.assertEqual("pyspark-" + name, result["implementation"])
                self.assertGreater(result["emptyRound"], 0)
                self.assertEqual([0.5, 1], [fit["localWork"] for fit in result["fits"]])
                for fit in result["fits"]:
                    expected = [objective for _, objective in loop(problem, solvers, fit["localWork"], 6)]
                    np.testing.assert_allclose([one["objective"] for one in fit["rounds"]], expected, rtol=SAME, atol=0)
                    before = 0.0
                    for one in fit["rounds"]:
                        self.assertGreater(one["worker"], 0)
                        self.assertGreater(one["leader"], 0)
                        self.assertLess(one["worker"] + one["leader"], one["elapsed"] - before)
                        before = one["elapsed"]

    def test_an_error_of_a_worker_names_the_file(self):
        self.problem(2, *RIDGE)
        path = self.directory / "part-1.mean.f64"
        path.write_bytes(path.read_bytes()[:-8])
        done = self.submit("numpy", "--data", self.directory, "--local-work", "1", "--rounds", 1, "--output", self.directory / "output.json")
        self.assertNotEqual(0, done.returncode)
        self.assertIn(str(path), done.stdout)


if __name__ == "__main__":
    unittest.main()
