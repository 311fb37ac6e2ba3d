#!/usr/bin/env python3
"""Loss and gradient of a small network, unit by unit.

`network.py` writes network.json beside itself; golden_test.py compares the file with what the script would write. Sums are over the rows.

layers    sizes, from features to classes
weights   for each layer after the features the matrix, column by column, and then the bias
rows      features of each row, with zeros
labels    class of each row
loss      sum of minus the logarithms of the probabilities of the rows' classes
gradient  of the loss, in the order of the weights
"""

import math
import random

from primal import write

LAYERS = [5, 4, 3, 3]


def unpacked(weights):
    """For each affine layer its rows of coefficients, and its bias."""
    layers, at = [], 0
    for inputs, outputs in zip(LAYERS, LAYERS[1:]):
        matrix = [[weights[at + j * outputs + i] for j in range(inputs)] for i in range(outputs)]
        at += inputs * outputs
        layers.append((matrix, weights[at : at + outputs]))
        at += outputs
    return layers


def of_row(layers, x, label):
    """Loss of a row, and for each affine layer the derivatives by what comes out of it, with what went in."""
    into, a = [], x
    for k, (matrix, bias) in enumerate(layers):
        into.append(a)
        z = [b + math.fsum(w * v for w, v in zip(row, a)) for row, b in zip(matrix, bias)]
        a = z if k == len(layers) - 1 else [1 / (1 + math.exp(-v)) for v in z]
    total = math.fsum(map(math.exp, a))
    delta = [math.exp(v) / total - (1 if c == label else 0) for c, v in enumerate(a)]
    deltas = [delta]
    for k in range(len(layers) - 1, 0, -1):
        matrix, below = layers[k][0], into[k]
        delta = [math.fsum(row[j] * d for row, d in zip(matrix, delta)) * v * (1 - v) for j, v in enumerate(below)]
        deltas.insert(0, delta)
    return math.log(total) - a[label], list(zip(deltas, into))


def contents():
    """The contents of the file."""
    draw = random.Random(7)
    size = sum((inputs + 1) * outputs for inputs, outputs in zip(LAYERS, LAYERS[1:]))
    weights = [round(draw.uniform(-2, 2), 4) for _ in range(size)]
    rows = [[round(draw.uniform(-3, 3), 3) if draw.random() < 0.6 else 0.0 for _ in range(LAYERS[0])] for _ in range(7)]
    labels = [draw.randrange(LAYERS[-1]) for _ in rows]
    found = [of_row(unpacked(weights), x, label) for x, label in zip(rows, labels)]
    gradient = []
    for k, (inputs, outputs) in enumerate(zip(LAYERS, LAYERS[1:])):
        ofs = [of_layers[k] for _, of_layers in found]
        gradient += [math.fsum(d[i] * a[j] for d, a in ofs) for j in range(inputs) for i in range(outputs)]
        gradient += [math.fsum(d[i] for d, _ in ofs) for i in range(outputs)]
    return {
        "network": {
            "layers": LAYERS,
            "weights": weights,
            "rows": rows,
            "labels": labels,
            "loss": math.fsum(loss for loss, _ in found),
            "gradient": gradient,
        }
    }


if __name__ == "__main__":
    write(contents())
