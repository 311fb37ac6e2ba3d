#!/usr/bin/env python3
"""Golden numbers of the leader's half of MA-LDA, in plain Python.

`topics.py` writes topics.json beside itself; golden_test.py compares the file with what the script would write.

initial      the first topics: cubes of sums of twelve uniform numbers of 16 bits, rounded to single precision.
newton       steps of alpha, by elimination with the whole Hessian, which the solver never forms.
schedule     steps of batches, to 50 digits.
"""

import struct
from decimal import Decimal

from gamma import psi, slope
from primal import SplitMix64, write


def single(x):
    """The single-precision number nearest to x."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def initial_vectors():
    """The cases of first topics."""
    cases = []
    for topics, words, seed in [(2, 3, 0), (3, 2, 42), (1, 4, -7), (17, 5, 1 << 40), (4, 1, -(1 << 63))]:
        numbers = []
        for word in range(words):
            random = SplitMix64(seed & ((1 << 64) - 1), word, 0)
            for _ in range(topics):
                uniforms = [bits >> shift & 0xFFFF for bits in [random.next() for _ in range(3)] for shift in (0, 16, 32, 48)]
                root = 1.0 - 1.0 / 900.0 + (sum(uniforms) - 12 * 65535 / 2) / 65536 / 30.0
                numbers.append(single(root * root * root))
        cases.append({"topics": topics, "words": words, "seed": seed, "numbers": numbers})
    return cases


def solve(matrix, right):
    """The solution of a linear system, by Gaussian elimination with pivots."""
    rows = [row + [b] for row, b in zip(matrix, right)]
    size = len(rows)
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(size):
            if r != i:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
    return [rows[i][size] / rows[i][i] for i in range(size)]


def newton_vectors():
    """The cases of steps of alpha."""
    cases = []
    for alpha, sums, documents, rho in [
        ([0.1, 0.1, 0.1], [-310.5, -290.25, -402.0], 100, 0.3),
        ([0.5, 0.05], [-20.0, -95.5], 25, 0.5),
        ([2.0, 1.0, 0.25, 0.125], [-11.0, -17.0, -60.0, -91.0], 10, 0.05),
    ]:
        a, n = [Decimal(x) for x in alpha], Decimal(documents)
        whole = sum(a)
        gradient = [n * (psi(whole) - psi(x)) + Decimal(s) for x, s in zip(a, sums)]
        size = range(len(a))
        hessian = [[n * slope(whole) - (n * slope(a[i]) if i == j else 0) for j in size] for i in size]
        step = solve(hessian, gradient)
        after = [float(x - Decimal(rho) * d) for x, d in zip(a, step)]
        cases.append({"alpha": alpha, "sums": sums, "documents": documents, "rho": rho, "after": after})
    return cases


def schedule_vectors():
    """The cases of step sizes."""
    cases = []
    for tau0, kappa, seen, documents, workers in [
        (1024.0, 0.51, 0.0, 125.0, 8.0),
        (64.0, 0.51, 32000.0, 500.0, 8.0),
        (10.0, 0.7, 120000.0, 1000.0, 1.0),
        (256.0, 1.0, 1e9, 1.0, 1.0),
    ]:
        rho = ((Decimal(tau0) + 1 + Decimal(seen) / 1000).ln() * -Decimal(kappa)).exp()
        step = 1 - ((1 - rho).ln() * Decimal(workers) * Decimal(documents) / 1000).exp()
        case = {"tau0": tau0, "kappa": kappa, "seen": seen, "documents": documents, "workers": workers}
        cases.append(case | {"rho": float(rho), "step": float(step)})
    return cases


def contents():
    """The contents of the file."""
    return {
        "topics": {
            "initial": initial_vectors(),
            "newton": newton_vectors(),
            "schedule": schedule_vectors(),
        }
    }


if __name__ == "__main__":
    write(contents())
