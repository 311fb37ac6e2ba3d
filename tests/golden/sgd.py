#!/usr/bin/env python3
"""Golden vectors of local SGD and model averaging, in plain Python (f64 throughout).

`sgd.py` writes sgd.json beside itself; golden_test.py compares the file with what the script would write. Every step follows the
definition and changes all coefficients: nothing is lazy, and no sum has the order of a solver.

averaging    two workers, one epoch in each round; the seed is one that visits rows in the order of their numbers.
descents     local SGD on one partition: every loss and penalty, weights, scale, intercept, schedules.
evaluations  losses, gradients and dual points of passes at a model.
searches     objectives of candidates for the step size.
"""

import math

from primal import SplitMix64, X, as_float, bucket_size, permutation, write

LOSSES = ["squared", "logistic", "hinge", "smoothed hinge", "squared hinge", "softmax"]
Y = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0]


def soft(v, threshold):
    """Soft threshold."""
    return math.copysign(max(abs(v) - threshold, 0.0), v)


def sigmoid(t):
    """1 / (1 + exp(-t))."""
    return 1.0 / (1.0 + math.exp(-t)) if t >= 0 else math.exp(t) / (1.0 + math.exp(t))


def loss_and_slopes(loss, gamma, z, y):
    """The loss at the predictions z, and its derivatives."""
    if loss == "softmax":
        top = max(z)
        e = [math.exp(v - top) for v in z]
        total = sum(e)
        slopes = [v / total for v in e]
        slopes[int(y)] -= 1.0
        return math.log(total) + top - z[int(y)], slopes
    z = z[0]
    room = 1.0 - y * z
    if loss == "squared":
        return (z - y) ** 2 / 2, [z - y]
    if loss == "logistic":
        return max(-y * z, 0.0) + math.log1p(math.exp(-abs(z))), [-y * sigmoid(-y * z)]
    if loss == "hinge":
        return max(room, 0.0), [-y if room > 0 else 0.0]
    if loss == "smoothed hinge":
        part = min(max(room / gamma, 0.0), 1.0)
        value = room - gamma / 2 if room > gamma else gamma * part**2 / 2
        return value, [-y * part]
    return max(room, 0.0) ** 2, [-2 * y * max(room, 0.0)]


def conjugate(loss, gamma, a, y):
    """loss*(-a)."""
    if loss == "softmax":
        q = [(1.0 if c == y else 0.0) - v for c, v in enumerate(a)]
        return sum(v * math.log(v) if v > 0 else 0.0 for v in q)
    a = a[0]
    p = y * a
    return {
        "squared": a * a / 2 - a * y,
        "logistic": sum(v * math.log(v) if v > 0 else 0.0 for v in (p, 1 - p)),
        "hinge": -p,
        "smoothed hinge": gamma * p * p / 2 - p,
        "squared hinge": p * p / 4 - p,
    }[loss]


def step_size(kind, eta0, rate, t):
    """The step size after t rows."""
    return [eta0 / math.sqrt(1 + rate * t), eta0 / (1 + rate * eta0 * t)][kind]


def row_order(m, seed, partition, cursor):
    """Buckets from `cursor` on, without end."""
    size = bucket_size(m)
    buckets = -(-m // size)
    while True:
        first = size * permutation(buckets, seed, partition, cursor // buckets)[cursor % buckets]
        yield range(first, min(m, first + size))
        cursor += 1


def predictions(row, w, b):
    """The prediction of each output."""
    return [sum(x * w[j][c] for j, x in row) + b[c] for c in range(len(b))]


def one_step(case, row, i, w, b, t):
    """Loss of row i, and the model after its step."""
    y = case["labels"][i]
    s = case["weights"][i] if case["weights"] else 1.0
    eta = step_size(case["kind"], case["eta0"], case["rate"], t)
    loss, slopes = loss_and_slopes(case["loss"], case["gamma"], predictions(row, w, b), y)
    g = [s * case["weightFactor"] * slope for slope in slopes]
    x = dict(row)
    scale = case["scale"] or [1.0] * case["features"]
    w = [
        [
            soft((1 - eta * case["l2"]) * v - eta * g[c] * scale[j] * x.get(j, 0.0), eta * case["l1"] * math.sqrt(scale[j]))
            for c, v in enumerate(vs)
        ]
        for j, vs in enumerate(w)
    ]
    if case["intercept"]:
        b = [v - eta * g[c] for c, v in enumerate(b)]
    return loss, s, w, b


def norms(case, w):
    """L1 norm and squared norm in the units of the penalty, without features of scale 0."""
    scale = case["scale"] or [1.0] * case["features"]
    pairs = [(v, u) for vs, u in zip(w, scale) for v in vs if u > 0]
    return sum(abs(v) / math.sqrt(u) for v, u in pairs), sum(v * v / u for v, u in pairs)


def split(vector, outputs):
    """A vector as coefficients by feature, and intercepts."""
    cells = [vector[k : k + outputs] for k in range(0, len(vector), outputs)]
    return cells[:-1], cells[-1]


def joined(w, b):
    """The vector of coefficients and intercepts."""
    return [v for vs in w for v in vs] + list(b)


def descend(case, data):
    """The expected result of a descent."""
    w, b = split(case["shared"], case["outputs"])
    l1_norm, square_norm = norms(case, w)
    t, total, loss_sum, weight_sum, nonzeros = case["steps"], 0, 0.0, 0.0, 0
    cursor = case["cursor"]
    buckets = row_order(len(data), case["seed"], case["partition"], cursor)
    while total < case["budget"]:
        for i in next(buckets):
            loss, s, w, b = one_step(case, data[i], i, w, b, t)
            t, total = t + 1, total + 1
            loss_sum, weight_sum, nonzeros = loss_sum + s * loss, weight_sum + s, nonzeros + len(data[i])
        cursor += 1
    return {
        "vector": [case["share"] * v for v in joined(w, b)],
        "lossSum": loss_sum,
        "weightSum": weight_sum,
        "l1Norm": l1_norm,
        "squareNorm": square_norm,
        "rows": total,
        "nonzeros": nonzeros,
        "cursor": cursor,
        "steps": t,
    }


def evaluate(case, data):
    """The expected result of a pass."""
    w, b = split(case["shared"], case["outputs"])
    sums = [[0.0] * case["outputs"] for _ in range(case["features"] + 1)]
    loss_sum, slopes_by_label = 0.0, [0.0, 0.0]
    dual = case["dual"]
    for i, row in enumerate(data):
        y = case["labels"][i]
        s = case["weights"][i] if case["weights"] else 1.0
        z = predictions(row, w, b)
        value, slopes = loss_and_slopes(case["loss"], case["gamma"], z, y)
        a = [-slope for slope in slopes]
        if case["loss"] not in ("squared", "softmax") and not dual:
            slopes_by_label[1 if y > 0 else 0] += s * y * a[0]
        if dual:
            if case["loss"] == "squared":
                a = [a[0] - dual[0]]
            elif case["loss"] == "softmax":
                one = [1.0 if c == y else 0.0 for c in range(case["outputs"])]
                q = [u - v for u, v in zip(one, a)]
                a = [dual[-1] * (u - ((1 - dual[0]) * v + dual[0] * r)) for u, v, r in zip(one, q, dual[1:])]
            else:
                a = [a[0] * dual[1 if y > 0 else 0]]
            value = conjugate(case["loss"], case["gamma"], a, y)
            coefficients = a
        else:
            coefficients = slopes
        loss_sum += s * value
        for j, x in row + [(case["features"], 1.0)]:
            sums[j] = [v + s * k * x for v, k in zip(sums[j], coefficients)]
    return {
        "vector": [v for vs in sums for v in vs],
        "lossSum": loss_sum,
        "slopes": slopes_by_label,
    }


def search(case, data):
    """The expected result of a search."""
    m = len(data)
    b_rows = case["budget"] if 2 * case["budget"] <= m else max(1, m // 2)
    order = (i for bucket in row_order(m, case["seed"], case["partition"], case["cursor"]) for i in bucket)
    order = [next(order) for _ in range(2 * b_rows)]
    objectives = []
    for eta0 in case["candidates"]:
        w, b = split(case["shared"], case["outputs"])
        for k, i in enumerate(order[:b_rows]):
            _, _, w, b = one_step({**case, "eta0": eta0}, data[i], i, w, b, case["steps"] + k)
        loss_sum, weight_sum = 0.0, 0.0
        for i in order[b_rows:]:
            s = case["weights"][i] if case["weights"] else 1.0
            loss_sum += s * loss_and_slopes(case["loss"], case["gamma"], predictions(data[i], w, b), case["labels"][i])[0]
            weight_sum += s
        l1_norm, square_norm = norms(case, w)
        objectives.append(loss_sum / weight_sum + case["l1"] * l1_norm + case["l2"] / 2 * square_norm)
    return {"weightSum": weight_sum, "objectives": objectives}


def problem(draw, loss, m, features, weighted, scaled, intercept, l1, l2, classes=3):
    """A random partition and model. Some rows and features are empty; all features of scale 0 are."""
    random = SplitMix64(draw, 0, 0)
    number = lambda: 2 * random.uniform() - 1
    outputs = classes if loss == "softmax" else 1
    scale = [random.uniform() * 2 if j % 5 != 3 else 0.0 for j in range(features)] if scaled else None
    rows = []
    for i in range(m):
        row = [(j, as_float(2 * number())) for j in range(features) if random.uniform() < 0.4 and i % 7 != 5]
        rows.append([(j, x) for j, x in row if not scaled or scale[j] > 0])
    if loss == "squared":
        labels = [3 * number() for _ in range(m)]
    elif loss == "softmax":
        labels = [float(int(random.uniform() * classes)) for _ in range(m)]
    else:
        labels = [1.0 if random.uniform() < 0.6 else -1.0 for _ in range(m)]
    shared = [number() / 2 if not scaled or scale[p // outputs] > 0 else 0.0 for p in range(features * outputs)]
    offsets = [0]
    for row in rows:
        offsets.append(offsets[-1] + len(row))
    case = {
        "loss": loss,
        "code": LOSSES.index(loss),
        "gamma": 0.5,
        "outputs": outputs,
        "features": features,
        "offsets": offsets,
        "indices": [j for row in rows for j, _ in row],
        "values": [x for row in rows for _, x in row],
        "labels": labels,
        "weights": [0.5 + random.uniform() for _ in range(m)] if weighted else None,
        "scale": scale,
        "shared": shared + [number() / 4 if intercept else 0.0 for _ in range(outputs)],
        "intercept": intercept,
        "l1": l1,
        "l2": l2,
        "weightFactor": 0.75 if weighted else 1.0,
        "seed": 42,
        "partition": 3,
        "cursor": 2,
        "steps": 11,
    }
    return case, rows


def descent_vectors():
    """The cases of descents."""
    cases = []
    kinds = [("plain", 0.0, 0.0), ("L2", 0.0, 0.1), ("L1", 0.02, 0.0), ("elastic net", 0.02, 0.1)]
    for k, loss in enumerate(LOSSES):
        for n, (name, l1, l2) in enumerate(kinds):
            draw = 10 * k + n
            case, rows = problem(draw, loss, 23, 9, n % 2 == 1, draw % 2 == 0 or n == 3, k % 2 == 0, l1, l2)
            case |= {"name": f"{loss}, {name}", "kind": draw % 2, "eta0": 0.2, "rate": 0.05}
            case |= {"budget": 40, "share": 0.375}
            cases.append(case | {"expected": descend(case, rows)})
    for loss in ("squared", "logistic", "softmax"):
        # The decay adds up so much that a worker renormalises many times.
        case, rows = problem(77, loss, 31, 6, True, True, True, 0.004, 4.0)
        case |= {"name": f"{loss}, strong penalty", "kind": 0, "eta0": 0.2, "rate": 0.0}
        case |= {"budget": 100, "share": 1.0}
        cases.append(case | {"expected": descend(case, rows)})
    return cases


def evaluation_vectors():
    """The cases of evaluations."""
    cases = []
    duals = [[0.3], [0.8, 1.0], [1.0, 0.5], [0.9, 0.25], [0.7, 1.0], [0.125, 0.5, 0.3, 0.2, 0.75]]
    for k, loss in enumerate(LOSSES):
        for dual in (None, duals[k]):
            case, rows = problem(200 + k, loss, 17, 7, k % 2 == 0, k % 3 == 0, True, 0.0, 0.1)
            case |= {"name": f"{loss}, {'dual point' if dual else 'gradient'}", "dual": dual}
            cases.append(case | {"expected": evaluate(case, rows)})
    return cases


def search_vectors():
    """The cases of searches."""
    cases = []
    for k, loss in enumerate(LOSSES):
        for budget in (5, 1000):
            case, rows = problem(300 + k, loss, 19, 8, k % 2 == 0, k % 3 == 0, True, 0.01 * (k % 2), 0.05)
            case |= {"name": f"{loss}, {budget} rows", "kind": k % 2, "rate": 0.05, "budget": budget}
            case |= {"candidates": [0.01, 0.125, 1.5]}
            cases.append(case | {"expected": search(case, rows)})
    return cases


def averaging_vectors():
    """The case of model averaging."""
    partitions, eta, l2 = [[0, 1, 2], [3, 4, 5]], 0.1, 0.1
    in_order = lambda seed: all(permutation(3, seed, k, epoch) == [0, 1, 2] for k in (0, 1) for epoch in (0, 1))
    seed = next(seed for seed in range(1 << 20) if in_order(seed))
    cases = []
    for name, l1 in [("L2", 0.0), ("elastic net", 0.05)]:
        w, history = [0.0] * 5, []
        for r in range(2):
            mean = [0.0] * 5
            for k, rows in enumerate(partitions):
                data = [[(j, float(x)) for j, x in enumerate(X[i]) if x] for i in rows]
                case = {"loss": "logistic", "gamma": 0.0, "outputs": 1, "features": 4, "labels": [Y[i] for i in rows]}
                case |= {"weights": None, "scale": None, "weightFactor": 1.0, "intercept": False, "l1": l1, "l2": l2}
                case |= {"kind": 0, "eta0": eta, "rate": 0.0, "seed": seed, "partition": k, "budget": 3}
                case |= {"cursor": 3 * r, "steps": 3 * r, "share": 0.5, "shared": w}
                mean = [u + v for u, v in zip(mean, descend(case, data)["vector"])]
            w = mean
            history.append(w[:4])
        cases.append({"name": name, "l1": l1, "round1": history[0], "round2": history[1]})
    return {"rows": X, "labels": Y, "partitions": partitions, "l2": l2, "eta": eta, "seed": seed, "cases": cases}


def contents():
    """The contents of the file."""
    return {
        "sgd": {
            "averaging": averaging_vectors(),
            "descents": descent_vectors(),
            "evaluations": evaluation_vectors(),
            "searches": search_vectors(),
        }
    }


if __name__ == "__main__":
    write(contents())
