#!/usr/bin/env python3
"""Golden numbers of LDA: a document, a step and the bound of a tiny case, to 50 digits, by mpmath.

`lda.py` writes lda.json beside itself; `lda.py --check` fails unless it is what it would write.
"""

import json
import pathlib
import sys

import mpmath
from mpmath import mpf

mpmath.mp.dps = 50

LAMBDA = [["1", "2", "0.5"], ["0.5", "1.5", "3"]]
ALPHA = ["0.5", "0.5"]
ETA = "0.5"
WORDS, COUNTS = [0, 2], [2, 1]
RHO, CORPUS = "0.1", 10


def psi(x):
    return mpmath.psi(0, x)


def text(value):
    if isinstance(value, list):
        return [text(v) for v in value]
    return float(mpmath.nstr(value, 20))


def golden():
    topics, vocabulary = 2, 3
    lam = [[mpf(x) for x in row] for row in LAMBDA]
    alpha, eta = [mpf(a) for a in ALPHA], mpf(ETA)
    log_beta = [[psi(x) - psi(sum(row)) for x in row] for row in lam]
    gamma = [a + mpf(sum(COUNTS)) / topics for a in alpha]
    first = None
    while True:
        theta = [mpmath.exp(psi(g) - psi(sum(gamma))) for g in gamma]
        phi = []
        for w in WORDS:
            parts = [theta[k] * mpmath.exp(log_beta[k][w]) for k in range(topics)]
            phi.append([part / sum(parts) for part in parts])
        new = [alpha[k] + sum(c * p[k] for c, p in zip(COUNTS, phi)) for k in range(topics)]
        first = first or new
        change = max(abs(a - b) for a, b in zip(new, gamma))
        gamma = new
        if change < mpf(10) ** -40:
            break
    statistics = [[c * p[k] for k in range(topics)] for c, p in zip(COUNTS, phi)]
    rho = mpf(RHO)
    after = [
        [
            (1 - rho) * lam[k][w] + rho * (eta + (CORPUS * statistics[WORDS.index(w)][k] if w in WORDS else 0))
            for k in range(topics)
        ]
        for w in range(vocabulary)
    ]
    log_theta = [psi(g) - psi(sum(gamma)) for g in gamma]
    corpus = mpmath.loggamma(sum(alpha)) - mpmath.loggamma(sum(gamma))
    for w, c in zip(WORDS, COUNTS):
        corpus += c * mpmath.log(sum(mpmath.exp(log_theta[k] + log_beta[k][w]) for k in range(topics)))
    bound = mpf(0)
    for k in range(topics):
        corpus += (alpha[k] - gamma[k]) * log_theta[k] + mpmath.loggamma(gamma[k]) - mpmath.loggamma(alpha[k])
        bound += mpmath.loggamma(vocabulary * eta) - mpmath.loggamma(sum(lam[k]))
        for w in range(vocabulary):
            x = lam[k][w]
            bound += (eta - x) * log_beta[k][w] + mpmath.loggamma(x) - mpmath.loggamma(eta)
    return {
        "firstGamma": text(first),
        "gamma": text(gamma),
        "statistics": text(statistics),
        "lambda": text(after),
        "corpusBound": text(corpus),
        "topicsBound": text(bound),
    }


def main():
    path = pathlib.Path(__file__).with_name("lda.json")
    made = json.dumps(golden(), indent=1) + "\n"
    if sys.argv[1:] == ["--check"]:
        if path.read_text() != made:
            sys.exit(f"{path.name} is not what {pathlib.Path(__file__).name} makes")
    else:
        path.write_text(made)


if __name__ == "__main__":
    main()
