"""The local solver in NumPy: coordinate descent, with a gather, a dot product and a scatter for each column."""

import math

import numpy as np
from order import BucketOrder


class NumpySolver:
    def __init__(self, problem, partition):
        self.problem = problem
        self.order = BucketOrder(len(partition.mean), problem.seed, partition.number)
        self.offsets = partition.offsets
        # Converted once: NumPy would do so with the entries of a column at every visit.
        self.indices = partition.indices.astype(np.intp)
        self.values = None if partition.values is None else partition.values.astype(np.float64)
        # Second derivative of the local model along each column.
        self.curvature = problem.sigma_prime * (partition.variance + partition.mean * partition.mean)

    def round(self, alpha, cursor, residual, budget):
        """One round from `alpha` and `cursor`: steps, the matrix times the steps, cursor and penalty after them."""
        after, w, visited = alpha.copy(), residual.copy(), 0
        while visited < budget and len(alpha) > 0:
            first, last = self.order.at(cursor)
            self._descend(first, last, after, w)
            visited += last - first
            cursor += 1
        problem = self.problem
        value = problem.l1 * np.abs(after).sum() + 0.5 * problem.l2 * after.dot(after)
        return after - alpha, (residual - w) / problem.sigma_prime, cursor, value

    def _descend(self, first, last, alpha, w):
        """Minimises along each column of a bucket; `w` is the residual less sigma' times what the steps add to the margins."""
        indices, values = self.indices, self.values
        l1, l2, sigma, inverse = self.problem.l1, self.problem.l2, self.problem.sigma_prime, 1.0 / self.problem.total_weight
        # Numbers of Python are several times faster in this loop than those of an array.
        offsets = self.offsets[first:last + 1].tolist()
        curvatures, bucket = self.curvature[first:last].tolist(), alpha[first:last].tolist()
        for k, (q, before) in enumerate(zip(curvatures, bucket)):
            entries = slice(offsets[k], offsets[k + 1])
            rows = indices[entries]
            gathered = w[rows]
            if values is None:
                dot = float(gathered.sum())
            else:
                column = values[entries]
                dot = float(column.dot(gathered))
            t = q * before + dot * inverse
            if q + l2 > 0.0:
                new = math.copysign(max(abs(t) - l1, 0.0), t) / (q + l2)
            else:
                new = 0.0 if l1 > 0.0 else before
            if new == before:
                continue
            bucket[k] = new
            step = sigma * (new - before)
            # The rows of a column are distinct, so what was gathered is still right.
            gathered -= step if values is None else step * column
            w[rows] = gathered
        alpha[first:last] = bucket
