"""Reads the files of bench/spark/sgd/RowFiles.scala: problem.json says how many, part-K.* are the rows of partition K."""

import json

import numpy as np
import scipy.sparse as sparse


def problem(directory):
    return json.loads((directory / "problem.json").read_text())


def read(directory):
    """All rows as one matrix, in the order of the partitions, and their labels."""
    about = problem(directory)
    parts = [_part(directory, k, part["values"], about["features"]) for k, part in enumerate(about["parts"])]
    return sparse.vstack([matrix for matrix, _ in parts], format="csr"), np.concatenate([labels for _, labels in parts])


def _part(directory, k, stored, features):
    def numbers(what, kind):
        return np.fromfile(directory / ("part-%d.%s" % (k, what)), dtype=kind)
    offsets, indices, labels = numbers("offsets.i32", "<i4"), numbers("indices.i32", "<i4"), numbers("labels.f64", "<f8")
    values = np.ones(len(indices)) if stored == "ones" else numbers("values.f32", "<f4").astype(np.float64)
    return sparse.csr_matrix((values, indices, offsets), shape=(len(labels), features)), labels
