#!/usr/bin/env python3
"""SGD by Vowpal Wabbit or by scikit-learn's SGDClassifier, on one machine.

    one_node_sgd.py vw|constant|invscaling|optimal --data DIR --output DIR --steps P,P,... [--step ETA]

    F(w) = 1/m sum_i loss(x_i.w; y_i) + l2/2 |w|^2

The first argument is Vowpal Wabbit, or the step sizes (learning_rate) of SGDClassifier. The data are those of row_files.py. --steps
are passes over the data, ascending, after which the model is kept; only the first one may be cut into fractions. --step is Vowpal
Wabbit's --learning_rate or SGDClassifier's eta0 (`optimal` takes none).

Writes history.json and a file of doubles for each model, a weight for each feature. Seconds are of wall-clock time in the learner alone:
of SGDClassifier's partial_fit on a matrix in memory, and of a run of Vowpal Wabbit that reads its own binary cache, which is made
beforehand and stays in the data directory. Each model of Vowpal Wabbit is from a run of its own.
"""

import argparse
import json
import pathlib
import time

import numpy as np

import row_files

SEED = 1


class Rows:
    """All rows of the directory as one matrix."""

    def __init__(self, directory):
        self.directory = directory
        problem = row_files.problem(directory)
        self.loss, self.l2, self.features = problem["loss"], problem["l2"], problem["features"]
        self.matrix, self.labels = row_files.read(directory)


def sgd_classifier(rows, schedule, step, steps):
    """Yields passes, seconds and weights."""
    from sklearn.linear_model import SGDClassifier
    rates = {} if schedule == "optimal" else {"eta0": step}
    losses = {"logistic": "log_loss", "hinge": "hinge"}
    model = SGDClassifier(loss=losses[rows.loss], penalty="l2", alpha=rows.l2, fit_intercept=False, learning_rate=schedule, random_state=SEED, **rates)
    classes = np.array([-1.0, 1.0])
    count = len(rows.labels)
    # Compiles nothing, but the first call imports and checks what later ones do not.
    SGDClassifier(alpha=1.0).partial_fit(rows.matrix[:10], rows.labels[:10], classes=classes)
    seconds, done = 0.0, 0.0
    for after in steps:
        while done < after:
            # To the end of the pass, or to the checkpoint in it.
            end = min(after, np.floor(done) + 1.0)
            first, last = (round(count * (at - np.floor(done))) for at in (done, end))
            whole = last - first == count
            x, y = (rows.matrix, rows.labels) if whole else (rows.matrix[first:last], rows.labels[first:last])
            start = time.perf_counter()
            model.partial_fit(x, y, classes=classes)
            seconds += time.perf_counter() - start
            done = end
        yield after, seconds, model.coef_[0]


def vowpal_wabbit(rows, step, steps, scratch):
    """Yields passes, seconds and weights."""
    from vowpalwabbit import Workspace
    text, cache, saved = rows.directory / "rows.vw", rows.directory / "rows.cache", scratch / "model.vw"
    # A name that is a number is the place of its weight, if there are enough of them: there are no collisions.
    common = "-d %s --cache_file %s -b %d --noconstant --holdout_off --quiet --random_seed %d" % (
        text, cache, max(1, (rows.features - 1).bit_length()), SEED)
    if not cache.is_file():
        write_text(rows, text)
        Workspace(common + " --passes 1").finish()
    # Its default steps, a size for each weight, shrink all weights by the size of the largest: that is another penalty than the
    # one asked for, and ends far above the optimum.
    kind = "--sgd --l2 %r" % rows.l2 if rows.l2 > 0 else ""
    for after in steps:
        passes = "--passes %d" % after if after >= 1 else "--passes 1 --examples %d" % max(1, round(after * len(rows.labels)))
        options = " %s --loss_function %s --learning_rate %r %s" % (passes, rows.loss, step, kind)
        start = time.perf_counter()
        # Makes the passes.
        learner = Workspace(common + options)
        seconds = time.perf_counter() - start
        # In memory the weights wait for a factor, which saving multiplies in.
        learner.save(str(saved))
        learner.finish()
        learner = Workspace("--initial_regressor %s --testonly --quiet" % saved)
        yield after, seconds, np.array([learner.get_weight(i) for i in range(rows.features)])
        learner.finish()


def write_text(rows, path):
    matrix = rows.matrix
    offsets, indices = matrix.indptr.tolist(), matrix.indices.tolist()
    ones = bool(np.all(matrix.data == 1.0))
    with open(path, "w") as out:
        for i, label in enumerate(rows.labels.tolist()):
            entries = range(offsets[i], offsets[i + 1])
            names = (str(indices[k]) if ones else "%d:%.9g" % (indices[k], matrix.data[k]) for k in entries)
            out.write("%d | %s\n" % (label, " ".join(names)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("learner", choices=["vw", "constant", "invscaling", "optimal"])
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--steps", type=lambda text: [float(part) for part in text.split(",")], required=True)
    parser.add_argument("--step", type=float)
    asked = parser.parse_args()
    if asked.step is None and asked.learner != "optimal":
        parser.error("--step is missing")
    rows = Rows(asked.data)
    if asked.learner == "vw":
        history = vowpal_wabbit(rows, asked.step, asked.steps, asked.output)
    else:
        history = sgd_classifier(rows, asked.learner, asked.step, asked.steps)
    checkpoints = []
    for passes, seconds, weights in history:
        name = "model-%d.f64" % len(checkpoints)
        weights.astype("<f8").tofile(asked.output / name)
        checkpoints.append({"steps": passes, "seconds": seconds, "model": name})
    (asked.output / "history.json").write_text(json.dumps({"checkpoints": checkpoints}))


if __name__ == "__main__":
    main()
