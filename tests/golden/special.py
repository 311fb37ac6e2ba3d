#!/usr/bin/env python3
"""Digamma, trigamma and ln gamma to 50 digits, by mpmath.

`special.py` writes special.json beside itself; `special.py --check` fails unless it is what it would write. Arguments are doubles (the
shortest decimal that is read as the same double); values are those of exactly these doubles, rounded to 20 digits.

points   [x, psi(x), psi'(x), ln Gamma(x)], from 1e-300 to 1e300; psi' from 1e-150 on, null below
pairs    [x, exp(psi(x + 6)), sum over i = 0..5 of 1 / (x + i), exp(psi(x)) or null where it is below 1e-300]
"""

import json
import pathlib
import random
import sys

import mpmath

mpmath.mp.dps = 50

ROOT = 1.4616321449683622  # psi is 0 close by


def text(value):
    return float(mpmath.nstr(value, 20))


def point(x):
    big = mpmath.mpf(x)
    slope = text(mpmath.psi(1, big)) if x >= 1e-150 else None
    return [x, text(mpmath.psi(0, big)), slope, text(mpmath.loggamma(big))]


def pair(x):
    big = mpmath.mpf(x)
    value = mpmath.exp(mpmath.psi(0, big))
    steps = sum(1 / (big + i) for i in range(6))
    return [x, text(mpmath.exp(mpmath.psi(0, big + 6))), text(steps), text(value) if value > 1e-300 else None]


def golden():
    draw = random.Random(1)
    wide = [10.0**e for e in range(-300, 301, 12)]
    usual = [10 ** draw.uniform(-6, 6) for _ in range(300)]
    near = [center + sign * 2.0**-e for center in (1.0, 2.0, ROOT, 10.0) for e in (3, 10, 25) for sign in (-1, 1)]
    whole = [n / 2 for n in range(1, 41)]
    pairs = [10 ** draw.uniform(-6, 6) for _ in range(300)] + [1e-6, 0.01, 0.1, 999.9999, 1000.0, 1000.0001, 1e5, 1e6]
    return {
        "points": [point(x) for x in wide + usual + near + [1.0, 2.0, ROOT] + whole],
        "pairs": [pair(x) for x in pairs],
    }


def main():
    path = pathlib.Path(__file__).with_name("special.json")
    lines = ",\n".join(
        f' "{name}": [\n' + ",\n".join("  " + json.dumps(row) for row in rows) + "\n ]" for name, rows in golden().items()
    )
    made = "{\n" + lines + "\n}\n"
    if sys.argv[1:] == ["--check"]:
        if path.read_text() != made:
            sys.exit(f"{path.name} is not what {pathlib.Path(__file__).name} makes")
    else:
        path.write_text(made)


if __name__ == "__main__":
    main()
