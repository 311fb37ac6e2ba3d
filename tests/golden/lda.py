#!/usr/bin/env python3
"""Golden numbers of LDA: a document, a step and the bound of a tiny case, to 50 digits.

`lda.py` writes lda.json beside itself; golden_test.py compares the file with what the script would write.
"""

from decimal import Decimal

from gamma import ln_gamma, psi
from primal import write

LAMBDA = [["1", "2", "0.5"], ["0.5", "1.5", "3"]]
ALPHA = ["0.5", "0.5"]
ETA = "0.5"
WORDS, COUNTS = [0, 2], [2, 1]
RHO, CORPUS = "0.1", 10


def doubles(value):
    """A number, or lists of numbers, as doubles."""
    return [doubles(v) for v in value] if isinstance(value, list) else float(value)


def contents():
    """The contents of the file."""
    topics, vocabulary = 2, 3
    lam = [[Decimal(x) for x in row] for row in LAMBDA]
    alpha, eta = [Decimal(a) for a in ALPHA], Decimal(ETA)
    log_beta = [[psi(x) - psi(sum(row)) for x in row] for row in lam]
    gamma = [a + Decimal(sum(COUNTS)) / topics for a in alpha]
    first = None
    while True:
        theta = [(psi(g) - psi(sum(gamma))).exp() for g in gamma]
        phi = []
        for w in WORDS:
            parts = [theta[k] * log_beta[k][w].exp() for k in range(topics)]
            phi.append([part / sum(parts) for part in parts])
        new = [alpha[k] + sum(c * p[k] for c, p in zip(COUNTS, phi)) for k in range(topics)]
        first = first or new
        change = max(abs(a - b) for a, b in zip(new, gamma))
        gamma = new
        if change < Decimal("1e-40"):
            break
    statistics = [[c * p[k] for k in range(topics)] for c, p in zip(COUNTS, phi)]
    rho = Decimal(RHO)
    after = [
        [
            (1 - rho) * lam[k][w] + rho * (eta + (CORPUS * statistics[WORDS.index(w)][k] if w in WORDS else 0))
            for k in range(topics)
        ]
        for w in range(vocabulary)
    ]
    log_theta = [psi(g) - psi(sum(gamma)) for g in gamma]
    corpus = ln_gamma(sum(alpha)) - ln_gamma(sum(gamma))
    for w, c in zip(WORDS, COUNTS):
        corpus += c * sum((log_theta[k] + log_beta[k][w]).exp() for k in range(topics)).ln()
    bound = Decimal(0)
    for k in range(topics):
        corpus += (alpha[k] - gamma[k]) * log_theta[k] + ln_gamma(gamma[k]) - ln_gamma(alpha[k])
        bound += ln_gamma(vocabulary * eta) - ln_gamma(sum(lam[k]))
        for w in range(vocabulary):
            x = lam[k][w]
            bound += (eta - x) * log_beta[k][w] + ln_gamma(x) - ln_gamma(eta)
    return {
        "lda": {
            "firstGamma": doubles(first),
            "gamma": doubles(gamma),
            "statistics": doubles(statistics),
            "lambda": doubles(after),
            "corpusBound": doubles(corpus),
            "topicsBound": doubles(bound),
        }
    }


if __name__ == "__main__":
    write(contents())
