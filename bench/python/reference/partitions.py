"""The problem directory: least squares with an elastic net, its columns cut into partitions.

    F(a) = 1/(2 S) sum_j (y_j - z_j)^2 + sum_i l1 |a_i| + l2 a_i^2 / 2,    z = A a

problem.json has what is common; labels.f64 has a label for each row; part-K.* are the arrays of partition K, little endian.
"""

import dataclasses
import json
import math
import pathlib

import numpy as np


class DataError(Exception):
    """A file of the directory is missing or is not what problem.json says."""


@dataclasses.dataclass(frozen=True)
class Partition:
    """Some columns of A, by columns: `values` is None if every one is 1. The moments have a number for each column."""

    number: int
    offsets: np.ndarray
    indices: np.ndarray
    values: np.ndarray | None
    mean: np.ndarray
    variance: np.ndarray
    deviation: np.ndarray


@dataclasses.dataclass(frozen=True)
class Part:
    columns: int
    nonzeros: int
    values: str


@dataclasses.dataclass(frozen=True)
class Problem:
    directory: pathlib.Path
    rows: int
    l1: float
    l2: float
    total_weight: float
    sigma_prime: float
    seed: int
    parts: tuple

    def labels(self):
        return self._array("labels.f64", "<f8", self.rows)

    def budget(self, number, local_work):
        """Columns that partition `number` visits in a round, at least; `local_work` is in epochs."""
        return max(1, math.ceil(self.parts[number].columns * local_work))

    def partition(self, number):
        part = self.parts[number]
        n = part.columns

        def array(name, kind, length):
            return self._array("part-%d.%s" % (number, name), kind, length)
        values = None if part.values == "ones" else array(*VALUES[part.values], part.nonzeros)
        return Partition(number, array("offsets.i32", "<i4", n + 1), array("indices.i32", "<i4", part.nonzeros), values,
                         *(array(name, "<f8", n) for name in ("mean.f64", "variance.f64", "deviation.f64")))

    def _array(self, name, kind, length):
        path, wanted = self.directory / name, length * np.dtype(kind).itemsize
        size = existing(path).stat().st_size
        if size != wanted:
            raise DataError("%s has %d bytes, but %d numbers are %d" % (path, size, length, wanted))
        return np.fromfile(path, dtype=kind)


VALUES = {"float32": ("values.f32", "<f4"), "float64": ("values.f64", "<f8")}


def existing(path):
    if not path.is_file():
        raise DataError("%s is missing" % path)
    return path


def read(directory):
    path = existing(pathlib.Path(directory) / "problem.json")
    said = json.loads(path.read_text())
    parts = tuple(Part(part["columns"], part["nonzeros"], part["values"]) for part in said["parts"])
    if len(parts) != said["partitions"]:
        raise DataError("%s has %d parts, but %d partitions" % (path, len(parts), said["partitions"]))
    for part in parts:
        if part.values != "ones" and part.values not in VALUES:
            raise DataError("%s: values are float32, float64 or ones, not %s" % (path, part.values))
    return Problem(pathlib.Path(directory), said["rows"], said["l1"], said["l2"], said["totalWeight"], said["sigmaPrime"], said["seed"], parts)
