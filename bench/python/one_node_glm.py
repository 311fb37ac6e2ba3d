#!/usr/bin/env python3
"""Linear models with few features by the solvers of others, on one machine: H2O's GLM, scikit-learn's newton-cholesky, glum.

    one_node_glm.py h2o|scikit-learn|glum --data FILE --fits FILE --output FILE

    F(w, b) = 1/m sum_i loss(x_i.w + b; y_i) + l1 sum_j u_j |w_j| + l2/2 sum_j (u_j w_j)^2,   u_j the deviation of feature j

--data is a Parquet file with a column for each feature, x0, x1 and so on, and the labels. --fits is JSON, a list of {"name", "loss"
("logistic" or "squared"), "label" (a column), "l1", "l2"}. Each fit reads the file, and so do its seconds: of wall-clock time, of the second of two runs in one process.
Writes JSON: for each fit that the solver has, name, seconds, coefficients and intercept.
"""

import argparse
import json
import pathlib
import time

import numpy as np

THREADS = 2
TOLERANCE = 1e-6


def matrix(path, label):
    """The features, row after row, and the labels."""
    import pyarrow.parquet
    table = pyarrow.parquet.read_table(path, use_threads=True)
    names = [name for name in table.column_names if name.startswith("x")]
    x = np.empty((table.num_rows, len(names)))
    for j, name in enumerate(names):
        x[:, j] = table.column(name).to_numpy()
    return x, table.column(label).to_numpy()


def scikit_learn(path, fit):
    """newton-cholesky has an L2 penalty or none, of columns as they are: they are standardised before."""
    from sklearn.linear_model import LogisticRegression
    if fit["l1"] > 0.0 or fit["loss"] != "logistic":
        return None
    x, y = matrix(path, fit["label"])
    mean, deviation = x.mean(axis=0), x.std(axis=0, ddof=1)
    x -= mean
    x /= deviation
    strength = np.inf if fit["l2"] == 0.0 else 1.0 / (len(y) * fit["l2"])
    model = LogisticRegression(C=strength, solver="newton-cholesky", tol=TOLERANCE, max_iter=100).fit(x, y)
    coefficients = model.coef_[0] / deviation
    return coefficients, model.intercept_[0] - coefficients @ mean


def glum(path, fit):
    """Its loss is half the deviance."""
    from glum import GeneralizedLinearRegressor
    x, y = matrix(path, fit["label"])
    alpha = fit["l1"] + fit["l2"]
    family = {"logistic": "binomial", "squared": "normal"}[fit["loss"]]
    model = GeneralizedLinearRegressor(
        family=family, alpha=alpha, l1_ratio=fit["l1"] / alpha if alpha > 0.0 else 0.0, scale_predictors=alpha > 0.0, gradient_tol=TOLERANCE)
    model.fit(x, y)
    return model.coef_, model.intercept_


def h2o_glm(path, fit):
    """In a server of its own, which is there before the clock runs."""
    import h2o
    from h2o.estimators import H2OGeneralizedLinearEstimator
    frame = h2o.import_file(str(path))
    try:
        if fit["loss"] == "logistic":
            frame[fit["label"]] = frame[fit["label"]].asfactor()
        alpha = fit["l1"] + fit["l2"]
        model = H2OGeneralizedLinearEstimator(
            family={"logistic": "binomial", "squared": "gaussian"}[fit["loss"]], solver="IRLSM", standardize=True,
            lambda_=[alpha], alpha=[fit["l1"] / alpha if alpha > 0.0 else 0.0])
        names = [name for name in frame.columns if name.startswith("x")]
        model.train(x=names, y=fit["label"], training_frame=frame)
        found = model.coef()
        return [found[name] for name in names], found["Intercept"]
    finally:
        h2o.remove(frame.frame_id)


SOLVERS = {"h2o": h2o_glm, "scikit-learn": scikit_learn, "glum": glum}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("solver", choices=SOLVERS)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--fits", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    if arguments.solver == "h2o":
        import h2o
        h2o.init(nthreads=THREADS, max_mem_size="6g", bind_to_localhost=True)
        h2o.no_progress()
    solve, done = SOLVERS[arguments.solver], []
    for fit in json.loads(arguments.fits.read_text("utf-8")):
        for _ in range(2):
            start = time.perf_counter()
            found = solve(arguments.data, fit)
            seconds = time.perf_counter() - start
        if found is not None:
            done.append({"name": fit["name"], "seconds": seconds, "coefficients": [float(w) for w in found[0]], "intercept": float(found[1])})
    arguments.output.write_text(json.dumps(done), "utf-8")
    if arguments.solver == "h2o":
        h2o.cluster().shutdown()


if __name__ == "__main__":
    main()
