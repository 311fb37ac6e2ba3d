#!/usr/bin/env python3
"""Linear models by the solvers of others, on one machine: with few features H2O's GLM, scikit-learn's newton-cholesky and glum, with many
liblinear, skglm (L1) and glum's L-BFGS.

    one_node_glm.py h2o|scikit-learn|glum|liblinear|skglm --data DIRECTORY --fits FILE --repetitions N --output FILE

    F(w, b) = 1/m sum_i loss(x_i.w + b; y_i) + l1 sum_j u_j |w_j| + l2/2 sum_j (u_j w_j)^2,   u_j the deviation of feature j

--data holds Parquet files with a column for each feature, x0, x1 and so on, or with lists of indices and values, and the labels. --fits is JSON, a list of {"name",
"loss" ("logistic" or "squared"), "label" (a column), "features", "l1", "l2"}. Each fit reads the files, within its seconds; one fit in the
same process goes before those that are timed. Writes JSON: for each fit that the solver has, the name, the seconds of wall-clock
time of each repetition, coefficients and intercept, or what the solver failed of.
"""

import argparse
import json
import os
import pathlib
import socket
import time

THREADS = 2
for variable in "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS":
    os.environ[variable] = str(THREADS)

import numpy as np  # noqa: E402: it reads these variables when it is loaded

TOLERANCE = 1e-6


def matrix(path, label):
    """The features, column after column as they are stored, and the labels."""
    import pyarrow.parquet
    table = pyarrow.parquet.read_table(path, use_threads=True)
    names = [name for name in table.column_names if name.startswith("x")]
    x = np.empty((table.num_rows, len(names)), order="F")
    for j, name in enumerate(names):
        x[:, j] = table.column(name).to_numpy()
    return x, table.column(label).to_numpy()


def is_sparse(path):
    import pyarrow.parquet
    return "indices" in pyarrow.parquet.read_schema(next(path.glob("*.parquet"))).names


def sparse(path, fit):
    """Rows with columns divided by their deviations, the labels, and the deviations; a constant column becomes 0."""
    import pyarrow.parquet
    import scipy.sparse
    table = pyarrow.parquet.read_table(path, use_threads=True)
    lists = table.column("indices").combine_chunks()
    indices, offsets = lists.values.to_numpy(), lists.offsets.to_numpy()
    values = table.column("values").combine_chunks().values.to_numpy().copy()
    m, p = table.num_rows, fit["features"]
    mean = np.bincount(indices, values, p) / m
    deviations = np.sqrt(np.maximum(0.0, np.bincount(indices, values * values, p) / m - mean * mean) * (m / (m - 1.0)))
    factors = np.divide(1.0, deviations, out=np.zeros(p), where=deviations > 0.0)
    values *= factors[indices]
    return scipy.sparse.csr_matrix((values, indices, offsets), shape=(m, p)), table.column(fit["label"]).to_numpy(), factors


def liblinear(path, fit):
    """Its objective is a sum over the rows, over C; the intercept is not penalised (-R)."""
    import liblinear.liblinearutil as solver
    if (fit["l1"] > 0.0) == (fit["l2"] > 0.0) or fit["l1"] > 0.0 and fit["loss"] != "logistic":
        return None
    x, y, factors = sparse(path, fit)
    logistic = fit["loss"] == "logistic"
    kind, parts = (6 if fit["l1"] > 0.0 else 0, 1.0) if logistic else (11, 2.0)
    labels = np.where(y > 0.5, 1.0, -1.0) if logistic else y
    strength = 1.0 / (parts * len(y) * (fit["l1"] + fit["l2"]))
    model = solver.train(labels, x, "-s %d -c %r -B 1 -R -p 0 -e 1e-4 -q" % (kind, strength))
    weights = np.ctypeslib.as_array(model.w, shape=(model.nr_feature + 1,)).copy()
    if logistic and model.get_labels()[0] < 0:
        weights = -weights
    return weights[:-1] * factors, weights[-1]


def skglm(path, fit):
    import scipy.sparse
    from skglm import SparseLogisticRegression
    if fit["l2"] > 0.0 or fit["loss"] != "logistic":
        return None
    x, y, factors = sparse(path, fit)
    model = SparseLogisticRegression(alpha=fit["l1"], tol=TOLERANCE, fit_intercept=True).fit(scipy.sparse.csc_matrix(x), np.where(y > 0.5, 1, -1))
    return model.coef_.ravel() * factors, float(np.ravel(model.intercept_)[0])


def glum_sparse(path, fit):
    from glum import GeneralizedLinearRegressor
    import scipy.sparse
    if fit["l1"] > 0.0:
        return None
    x, y, factors = sparse(path, fit)
    family = {"logistic": "binomial", "squared": "normal"}[fit["loss"]]
    model = GeneralizedLinearRegressor(family=family, alpha=fit["l2"], l1_ratio=0.0, solver="lbfgs", gradient_tol=1e-5, max_iter=100)
    model.fit(scipy.sparse.csc_matrix(x), y)
    return model.coef_ * factors, model.intercept_


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
    if is_sparse(path):
        return glum_sparse(path, fit)
    x, y = matrix(path, fit["label"])
    alpha = fit["l1"] + fit["l2"]
    family = {"logistic": "binomial", "squared": "normal"}[fit["loss"]]
    model = GeneralizedLinearRegressor(
        family=family, alpha=alpha, l1_ratio=fit["l1"] / alpha if alpha > 0.0 else 0.0, scale_predictors=alpha > 0.0, gradient_tol=TOLERANCE)
    model.fit(x, y)
    return model.coef_, model.intercept_


def h2o_glm(path, fit):
    import h2o
    from h2o.estimators import H2OGeneralizedLinearEstimator
    frame = h2o.import_file(str(path), pattern=r".*\.parquet$")
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


class Server:
    """H2O's, of its own, on a port that is free: it is there before the clock runs."""

    def __enter__(self):
        import h2o
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        h2o.init(port=port, nthreads=THREADS, max_mem_size="6g", bind_to_localhost=True)
        h2o.no_progress()
        return h2o.remove_all

    def __exit__(self, *_):
        import h2o
        h2o.cluster().shutdown()


class Nothing:
    def __enter__(self):
        return lambda: None

    def __exit__(self, *_):
        pass


SOLVERS = {
    "h2o": (h2o_glm, Server), "scikit-learn": (scikit_learn, Nothing), "glum": (glum, Nothing), "liblinear": (liblinear, Nothing), "skglm": (skglm, Nothing),
}


def fitted(solve, clean, path, fit, repetitions):
    """What is written of a fit; None if the solver does not have it."""
    seconds = []
    try:
        for _ in range(1 + repetitions):
            start = time.perf_counter()
            found = solve(path, fit)
            seconds.append(time.perf_counter() - start)
            clean()
            if found is None:
                return None
    except Exception as failure:  # whatever it is, the other fits go on, and the result says it
        clean()
        return {"name": fit["name"], "failed": "%s: %s" % (type(failure).__name__, failure)}
    return {"name": fit["name"], "seconds": seconds[1:], "coefficients": [float(w) for w in found[0]], "intercept": float(found[1])}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("solver", choices=SOLVERS)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--fits", type=pathlib.Path, required=True)
    parser.add_argument("--repetitions", type=int, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    solve, surroundings = SOLVERS[arguments.solver]
    with surroundings() as clean:
        done = [fitted(solve, clean, arguments.data, fit, arguments.repetitions) for fit in json.loads(arguments.fits.read_text("utf-8"))]
    arguments.output.write_text(json.dumps([one for one in done if one is not None]), "utf-8")


if __name__ == "__main__":
    main()
