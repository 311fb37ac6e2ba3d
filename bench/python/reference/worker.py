"""What a Python worker of Spark does in a round. Modules live as long as the process, so what is cached here outlives a task."""

import functools
import time
import typing

import numpy as np
import partitions
from native_solver import NativeSolver
from numpy_solver import NumpySolver


class State(typing.NamedTuple):
    """What is a partition's own and changes from round to round."""

    alpha: np.ndarray
    cursor: int


class Result(typing.NamedTuple):
    state: State
    update: np.ndarray
    # Penalty of the partition after the steps.
    value: float
    # In the local solver.
    seconds: float


class Solver(typing.NamedTuple):
    """Which local solver for which problem: its name, the directory, and the path of the native library."""

    name: str
    directory: str
    library: str | None


@functools.cache
def local_solver(solver, number):
    problem = partitions.read(solver.directory)
    partition = problem.partition(number)
    return NativeSolver(problem, partition, solver.library) if solver.name == "native" else NumpySolver(problem, partition)


def solve(solver, local_work, number, residual, state):
    """A round of partition `number`."""
    local = local_solver(solver, number)
    budget = local.problem.budget(number, local_work)
    start = time.perf_counter()
    delta, update, cursor, value = local.round(state.alpha, state.cursor, residual, budget)
    seconds = time.perf_counter() - start
    return Result(State(state.alpha + delta, cursor), update, float(value), seconds)


def idle(number, vector, state):
    """A round without work."""
    return Result(state, vector, 0.0, 0.0)
