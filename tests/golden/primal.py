#!/usr/bin/env python3
"""Golden vectors of the primal solver, in plain Python (f64 throughout).

`primal.py` writes order.json, cocoa.json and round.json beside itself; golden_test.py compares them with what the script would
write.

cocoa.json  two partitions, cyclic order, one epoch in each round: coefficients and objectives of the first rounds, and the optimum.
order.json  SplitMix64 and the order of buckets.
round.json  one round to the last bit: doubles are the 16 hex digits of their bits. A solver that adds in another order fails.
"""

import json
import math
import pathlib
import struct

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB


def mix(z):
    """The finaliser of SplitMix64."""
    z = ((z ^ (z >> 30)) * MIX_1) & MASK
    z = ((z ^ (z >> 27)) * MIX_2) & MASK
    return z ^ (z >> 31)


class SplitMix64:
    """The generator of one epoch of one partition."""

    def __init__(self, seed, partition, epoch):
        self.state = mix((seed ^ ((partition + 1) * GOLDEN) ^ ((epoch + 1) * MIX_1)) & MASK)

    def next(self):
        self.state = (self.state + GOLDEN) & MASK
        return mix(self.state)

    def below(self, bound):
        return ((self.next() >> 32) * bound) >> 32

    def uniform(self):
        return (self.next() >> 11) / 2.0**53


def bucket_size(n):
    """Coordinates in a bucket of a partition with n coordinates."""
    return max(1, min(64, n // 256))


def permutation(buckets, seed, partition, epoch):
    """The order of the buckets in an epoch."""
    random = SplitMix64(seed, partition, epoch)
    order = list(range(buckets))
    for i in range(buckets - 1, 0, -1):
        j = random.below(i + 1)
        order[i], order[j] = order[j], order[i]
    return order


def order_vectors():
    """The contents of order.json."""
    generators = []
    for seed, partition, epoch in [(0, 0, 0), (42, 0, 0), (42, 1, 0), (42, 0, 1), (MASK, 7, 123456789)]:
        random = SplitMix64(seed, partition, epoch)
        generators.append(
            {
                # Signed, as in the JVM.
                "seed": seed - (1 << 64) if seed >> 63 else seed,
                "partition": partition,
                "epoch": epoch,
                "next": [f"{random.next():016x}" for _ in range(4)],
            }
        )
    orders = []
    for coordinates, seed, partition, cursor in [(5, 1, 0, 0), (5, 1, 0, 5), (700, 42, 3, 2), (1025, 42, 3, 250)]:
        size = bucket_size(coordinates)
        buckets = -(-coordinates // size)
        starts = []
        for c in range(cursor, cursor + 12):
            starts.append(size * permutation(buckets, seed, partition, c // buckets)[c % buckets])
        orders.append(
            {
                "coordinates": coordinates,
                "seed": seed,
                "partition": partition,
                "cursor": cursor,
                "bucketSize": size,
                "buckets": buckets,
                "starts": starts,
            }
        )
    return {"generators": generators, "orders": orders}


X = [[1, 0, 2, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 2], [2, 0, 0, 1], [0, 3, 1, 0]]
Y = [3, 1, 2, 0, 4, 5]


def soft(t, threshold):
    """Soft threshold."""
    return math.copysign(max(abs(t) - threshold, 0.0), t) + 0.0


def objective(alpha, l1, l2):
    """F at coefficients `alpha`."""
    m = len(Y)
    loss = sum((y - sum(x * a for x, a in zip(row, alpha))) ** 2 for row, y in zip(X, Y)) / (2 * m)
    return loss + sum(l1 * abs(a) + l2 * a * a / 2 for a in alpha)


def cocoa_rounds(l1, l2, partitions, rounds):
    """Coefficients and objective after each round of adding: gamma = 1, sigma' = K."""
    m, sigma = len(Y), float(len(partitions))
    alpha = [0.0] * 4
    history = []
    for _ in range(rounds):
        residual = [y - sum(x * a for x, a in zip(row, alpha)) for row, y in zip(X, Y)]
        for partition in partitions:
            w = list(residual)
            for i in partition:
                column = [row[i] for row in X]
                q = sigma * sum(c * c for c in column) / m
                x = sum(c * v for c, v in zip(column, w)) / m
                new = soft(q * alpha[i] + x, l1) / (q + l2)
                step = sigma * (new - alpha[i])
                w = [v - step * c for v, c in zip(w, column)]
                alpha[i] = new
        history.append((list(alpha), objective(alpha, l1, l2)))
    return history


def cocoa_vectors():
    """The contents of cocoa.json."""
    cases = []
    for name, lam, eta in [("ridge", 0.1, 0.0), ("lasso", 0.3, 1.0), ("elastic net", 0.2, 0.5)]:
        l1, l2 = lam * eta, lam * (1 - eta)
        two = cocoa_rounds(l1, l2, [[0, 1], [2, 3]], 2)
        optimum, value = cocoa_rounds(l1, l2, [[0, 1, 2, 3]], 2000)[-1]
        cases.append(
            {
                "name": name,
                "l1": l1,
                "l2": l2,
                "round1": two[0][0],
                "objective1": two[0][1],
                "objective2": two[1][1],
                "optimum": optimum,
                "optimalObjective": value,
            }
        )
    return {"rows": X, "labels": Y, "partitions": [[0, 1], [2, 3]], "sigmaPrime": 2.0, "cases": cases}


def bits(x):
    """The bits of a double, as 16 hex digits."""
    return f"{struct.unpack('>Q', struct.pack('>d', x))[0]:016x}"


def as_float(x):
    """The single-precision number nearest to x."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def in_order(values):
    """The sum, added one by one: from Python 3.12 on, sum() compensates for rounding and gives other last bits."""
    total = 0.0
    for v in values:
        total += v
    return total


def in_fours(products):
    """The sum over a sparse column."""
    whole = len(products) // 4 * 4
    a = [in_order(products[k:whole:4]) for k in range(4)]
    return in_order([(a[0] + a[1]) + (a[2] + a[3])] + products[whole:])


def in_sixteens(products):
    """The sum over a dense column."""
    a = [in_order(products[k::16]) for k in range(16)]
    while len(a) > 1:
        half = len(a) // 2
        a = [a[k] + a[k + half] for k in range(half)]
    return a[0]


def round_case(name, weighted, centred, l1, l2, scale_factor, dense=False):
    """One round of one partition, in the solver's own order of additions."""
    rows, n, seed, partition, cursor, budget = 59 if dense else 23, 11, 42, 3, 2, 14
    random = SplitMix64(7, 0, 0)
    columns = []
    for i in range(n):
        entries = [j for j in range(rows) if random.uniform() < 0.05 + 0.07 * i]
        columns.append([(j, as_float(random.uniform() * 2 - 0.5)) for j in entries])
    if dense:
        columns = [[(j, dict(column).get(j, 0.0)) for j in range(rows)] for column in columns]
    # The order in which partitions store columns: by length up to 9, then by number.
    columns.sort(key=lambda column: min(len(column), 9))
    weights = [0.5 + random.uniform() for _ in range(rows)] if weighted else None
    s = weights or [1.0] * rows
    total = in_order(s)
    mean = [in_order(s[j] * c for j, c in column) / total for column in columns]
    variance = []
    for column, mu in zip(columns, mean):
        values_of = dict(column)
        variance.append(in_order(s[j] * (values_of.get(j, 0.0) - mu) ** 2 for j in range(rows)) / total)
    deviation = [math.sqrt(v) for v in variance]
    residual = [random.uniform() * 4 - 2 for _ in range(rows)]
    alpha = [random.uniform() - 0.5 if i % 3 else 0.0 for i in range(n)]
    sigma = 3.0

    scaled = scale_factor > 0
    scaled_l1, scaled_l2 = l1 * math.sqrt(scale_factor), l2 * scale_factor
    l1s = [scaled_l1 * d if scaled else l1 for d in deviation]
    l2s = [scaled_l2 * v if scaled else l2 for v in variance]
    q = [sigma * (v if centred else v + mu * mu) for v, mu in zip(variance, mean)]
    inverse = 1.0 / total

    def dot(column, w):
        products = [c * w[j] for j, c in column]
        return in_sixteens(products) if dense else in_fours(products)

    def penalty(a):
        value = 0.0
        for i in range(n):
            value += l1s[i] * abs(a[i]) + 0.5 * (l2s[i] * (a[i] * a[i]))
        return value

    start = [s[j] * residual[j] if weighted else residual[j] for j in range(rows)]
    w, residual_sum = list(start), 0.0
    for v in start:
        residual_sum += v
    conjugate, ratio, correlation = 0.0, 0.0, 0.0
    for i, column in enumerate(columns):
        d = dot(column, w)
        if centred:
            d += mean[i] * -residual_sum
        x = d * inverse
        if l2s[i] > 0:
            excess = max(abs(x) - l1s[i], 0.0)
            conjugate += excess * excess / (2.0 * l2s[i])
        elif abs(x) > l1s[i]:
            conjugate = math.inf
        quotient = lambda a, b: 0.0 if a == 0 else (a / b if b > 0 else math.inf)
        ratio = max(ratio, quotient(abs(x), l1s[i]))
        correlation = max(correlation, quotient(abs(x), math.sqrt(q[i] / sigma)))

    a, kappa, visited, nonzeros = list(alpha), 0.0, 0, 0
    after = cursor
    while visited < budget:
        size = bucket_size(n)
        buckets = -(-n // size)
        first = size * permutation(buckets, seed, partition, after // buckets)[after % buckets]
        for i in range(first, min(n, first + size)):
            d = dot(columns[i], w)
            if centred:
                d += mean[i] * ((sigma * kappa) * total - residual_sum)
            t, curvature = q[i] * a[i] + d * inverse, q[i] + l2s[i]
            new = soft(t, l1s[i]) / curvature if curvature > 0 else (0.0 if l1s[i] > 0 else a[i])
            delta = new - a[i]
            if delta != 0:
                a[i] = new
                step = sigma * delta
                for j, c in columns[i]:
                    w[j] -= (step * c) * s[j] if weighted else step * c
                if centred:
                    kappa += delta * mean[i]
            visited += 1
            nonzeros += len(columns[i])
        after += 1
    update = []
    for j in range(rows):
        u = (start[j] - w[j]) / sigma
        if weighted:
            u /= s[j]
        update.append(u - kappa if centred else u)
    offsets = [0]
    for column in columns:
        offsets.append(offsets[-1] + len(column))
    every = lambda values: [bits(v) for v in values]
    return {
        "name": name,
        "rows": rows,
        "offsets": offsets,
        "indices": None if dense else [j for column in columns for j, _ in column],
        "values": every(c for column in columns for _, c in column),
        "mean": every(mean),
        "variance": every(variance),
        "deviation": every(deviation),
        "weights": every(weights) if weighted else None,
        "totalWeight": bits(total),
        "residual": every(residual),
        "alpha": every(alpha),
        "centred": centred,
        "sigmaPrime": bits(sigma),
        "l1": bits(l1),
        "l2": bits(l2),
        "scaleFactor": bits(scale_factor),
        "seed": seed,
        "partition": partition,
        "cursor": cursor,
        "budget": budget,
        "expected": {
            "delta": every(x - y for x, y in zip(a, alpha)),
            "update": every(update),
            "cursor": after,
            "coordinates": visited,
            "nonzeros": nonzeros,
            "penaltyBefore": bits(penalty(alpha)),
            "penaltyAfter": bits(penalty(a)),
            "conjugate": bits(conjugate),
            "ratio": bits(ratio),
            "correlation": bits(correlation),
            "kappa": bits(kappa),
        },
    }


def round_vectors():
    """The contents of round.json."""
    return [
        round_case("ridge", False, False, 0.0, 0.25, 0.0),
        round_case("lasso, centred", False, True, 0.125, 0.0, 0.0),
        round_case("elastic net, weighted", True, False, 0.0625, 0.125, 1.75),
        round_case("elastic net, weighted and centred", True, True, 0.0625, 0.125, 0.8),
        round_case("no penalty, weighted and centred", True, True, 0.0, 0.0, 0.0),
        round_case("dense ridge", False, False, 0.0, 0.25, 0.0, dense=True),
        round_case("dense elastic net, weighted and centred", True, True, 0.0625, 0.125, 0.8, dense=True),
    ]


def contents():
    """The contents of each file."""
    return {"order": order_vectors(), "cocoa": cocoa_vectors(), "round": round_vectors()}


def write(files):
    """Writes each file beside this script."""
    for name, content in files.items():
        path = pathlib.Path(__file__).resolve().parent / f"{name}.json"
        path.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    write(contents())
