"""The local solver of the native library, through its C interface."""

import dwell_abi
import numpy as np


class NativeSolver:
    def __init__(self, problem, partition, library):
        self.problem = problem
        self.number = partition.number
        self.library = dwell_abi.Library(library)
        # The structure has addresses only: it keeps no array alive.
        self.partition = partition
        values = {"float32": None, "float64": None}
        if partition.values is not None:
            values[partition.values.dtype.name] = partition.values.ctypes.data
        matrix = dwell_abi.Matrix(len(partition.mean), problem.rows, len(partition.indices), partition.offsets.ctypes.data,
                                  partition.indices.ctypes.data, values["float32"], values["float64"])
        self.columns = dwell_abi.Columns(matrix, partition.mean.ctypes.data, partition.variance.ctypes.data,
                                         partition.deviation.ctypes.data, None)

    def round(self, alpha, cursor, residual, budget):
        """One round from `alpha` and `cursor`: steps, the matrix times the steps, cursor and penalty after them."""
        problem = self.problem
        settings = dwell_abi.Round(sigma_prime=problem.sigma_prime, l2=problem.l2, total_weight=problem.total_weight, seed=problem.seed,
                                   budget=budget, partition=self.number, threads=1)
        delta, update, cursor = self.library.primal_round(self.columns, settings, problem.l1, alpha, cursor, residual)
        reached = alpha + delta
        return delta, update, cursor, problem.l1 * np.abs(reached).sum() + 0.5 * problem.l2 * (reached @ reached)
