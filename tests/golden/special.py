#!/usr/bin/env python3
"""Digamma, trigamma and ln gamma to 50 digits.

`special.py` writes special.json beside itself; golden_test.py compares the file with what the script would write. Arguments are
doubles; values are those at exactly these doubles.

points   [x, psi(x), psi'(x), ln Gamma(x)], from 1e-300 to 1e300; psi' from 1e-150 on, null below
pairs    [x, exp(psi(x + 6)), sum over i = 0..5 of 1 / (x + i), exp(psi(x)) or null where it is below 1e-300]
"""

import random
from decimal import Decimal

from gamma import ln_gamma, psi, slope
from primal import write

ROOT = 1.4616321449683622  # close to the zero of psi


def point(x):
    """A row of `points`."""
    big = Decimal(x)
    return [x, float(psi(big)), float(slope(big)) if x >= 1e-150 else None, float(ln_gamma(big))]


def pair(x):
    """A row of `pairs`."""
    big = Decimal(x)
    value = psi(big).exp()
    steps = sum(1 / (big + i) for i in range(6))
    return [x, float(psi(big + 6).exp()), float(steps), float(value) if value > Decimal("1e-300") else None]


def contents():
    """The contents of the file."""
    draw = random.Random(1)
    wide = [10.0**e for e in range(-300, 301, 12)]
    usual = [10 ** draw.uniform(-6, 6) for _ in range(300)]
    near = [center + sign * 2.0**-e for center in (1.0, 2.0, ROOT, 10.0) for e in (3, 10, 25) for sign in (-1, 1)]
    whole = [n / 2 for n in range(1, 41)]
    pairs = [10 ** draw.uniform(-6, 6) for _ in range(300)] + [1e-6, 0.01, 0.1, 999.9999, 1000.0, 1000.0001, 1e5, 1e6]
    return {
        "special": {
            "points": [point(x) for x in wide + usual + near + [1.0, 2.0, ROOT] + whole],
            "pairs": [pair(x) for x in pairs],
        }
    }


if __name__ == "__main__":
    write(contents())
