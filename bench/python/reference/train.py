#!/usr/bin/env python3
"""Distributed coordinate descent (CoCoA+) with pySpark: implementations (C), a local solver in NumPy, and (D), the native one, of
Duenner et al., "Understanding and optimizing the performance of distributed machine learning applications on Apache Spark", 2017.

    spark-submit --master ... --py-files MODULES train.py numpy|native --data DIR --local-work H[,H] --rounds N --output FILE.json
                 [--library libdwell.so]

MODULES are dwell_abi.py and the others beside this file. DIR is what partitions.py reads; it and the library have the same path on every
machine. Each H, in epochs of a partition's columns, gives a fit of N rounds from zero.

A round is one job with a task for each partition. As in the paper, workers keep no state: coefficients and cursor of every partition go
out with the residual, in one broadcast, and come back with the updates. (Parallelised and zipped with the partitions' numbers, so that a
worker would get its own state only, they took longer with two workers.) The data never travel: a worker reads its partition in the first
round, which is of the fit that warms up, and keeps it as long as its process lives. That takes executors of one core, which have one
Python process each; with more cores a partition can be read by several.

"elapsed" and the rest of the output are seconds. "worker" is what the slowest worker spent in its local solver, "leader" what the driver
spent on adding up, residual and objective. "emptyRound" is a round without work, whose vector has one number.
"""

import argparse
import functools
import json
import pathlib
import statistics
import time

import numpy as np
import partitions
import worker
from pyspark import SparkConf, SparkContext

EMPTY_ROUNDS = 30
EMPTY_ROUNDS_BEFORE = 5
WARM_UP_ROUNDS = 3
# Seconds in which executors have to come up.
EXECUTOR_PATIENCE = 300


class Rounds:
    """Jobs with a task for each of `count` partitions."""

    def __init__(self, context, count):
        self.context = context
        numbers = context.parallelize(range(count), count)
        # Waits for a free core for each partition, so that the first job does not place all of them on the executor that came first.
        numbers.barrier().mapPartitions(list).collect()
        # Where a partition's number is cached its tasks run, and so where its data are.
        self.numbers = numbers.persist()
        self.numbers.count()

    def run(self, work, vector, states):
        """The results of `work(number, vector, state)` for each partition, in order."""
        sent = self.context.broadcast((vector, states))

        def task(numbers):
            vector, states = sent.value
            return [work(number, vector, states[number]) for number in numbers]
        try:
            return self.numbers.mapPartitions(task).collect()
        finally:
            sent.destroy()


def fit(rounds, problem, labels, work, count):
    """`count` rounds from zero: objective and times of each."""
    start = time.perf_counter()
    margins, residual = np.zeros(problem.rows), labels
    states = [worker.State(np.zeros(part.columns), 0) for part in problem.parts]
    history, leader = [], time.perf_counter() - start
    for _ in range(count):
        results = rounds.run(work, residual, states)
        began = time.perf_counter()
        for result in results:
            margins += result.update
        states = [result.state for result in results]
        residual = labels - margins
        objective = residual.dot(residual) / (2.0 * problem.total_weight) + sum(result.value for result in results)
        now = time.perf_counter()
        history.append({"objective": float(objective), "elapsed": now - start, "worker": max(result.seconds for result in results),
                        "leader": leader + now - began})
        leader = 0.0
    return history


def empty_round(rounds, problem):
    """Median seconds of a round without work and with a vector of one number."""
    seconds = []
    for _ in range(EMPTY_ROUNDS_BEFORE + EMPTY_ROUNDS):
        start = time.perf_counter()
        rounds.run(worker.idle, np.zeros(1), [worker.State(np.zeros(0), 0)] * len(problem.parts))
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[EMPTY_ROUNDS_BEFORE:])


def local_works(text):
    numbers = [float(number) for number in text.split(",")]
    if not all(0 < number < float("inf") for number in numbers):
        raise ValueError(text)
    return numbers


def main():
    options = argparse.ArgumentParser(usage=__doc__)
    options.add_argument("solver", choices=("numpy", "native"))
    options.add_argument("--data", type=pathlib.Path, required=True)
    options.add_argument("--local-work", type=local_works, required=True)
    options.add_argument("--rounds", type=int, required=True)
    options.add_argument("--output", type=pathlib.Path, required=True)
    options.add_argument("--library", type=pathlib.Path)
    given = options.parse_args()
    if (given.solver == "native") != (given.library is not None):
        options.error("--library is needed with native, and of no use with numpy")
    problem = partitions.read(given.data)
    labels = problem.labels()
    solver = worker.Solver(given.solver, str(given.data.resolve()), str(given.library.resolve()) if given.library else None)
    configuration = SparkConf().setAppName("reference " + given.solver)
    # By default Spark looks only every 15 seconds whether the executors for a barrier are there.
    configuration.set("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "1s")
    configuration.set("spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures", str(EXECUTOR_PATIENCE))
    # Cheaper in every job than TCP between the JVM and Python, which is all that versions before 4.1 know.
    configuration.setIfMissing("spark.python.unix.domain.socket.enabled", "true")
    with SparkContext(conf=configuration) as context:
        rounds = Rounds(context, len(problem.parts))

        def fitted(local_work, count):
            return fit(rounds, problem, labels, functools.partial(worker.solve, solver, local_work), count)
        fitted(given.local_work[0], min(given.rounds, WARM_UP_ROUNDS))
        empty = empty_round(rounds, problem)
        fits = [{"localWork": local_work, "rounds": fitted(local_work, given.rounds)} for local_work in given.local_work]
    given.output.write_text(json.dumps({"implementation": "pyspark-" + given.solver, "emptyRound": empty, "fits": fits}, indent=1) + "\n")


if __name__ == "__main__":
    main()
