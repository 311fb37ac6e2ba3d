#!/usr/bin/env python3
"""scikit-learn's LogisticRegressionCV on the flights of benchTuning: the path of ten penalties, three folds, areas under ROC.

    one_node_search.py FLIGHTS RESULT.json REPETITIONS

The objective is Spark's: features in units of their deviations, an L2 penalty of regParam beside the mean loss. Seconds are of fit alone, the
rows in memory, on as many processes as the machine has cores.
"""

import json
import os
import pathlib
import sys
import time

import numpy
import sklearn
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

PENALTIES = [10.0 ** (-i / 3.0) for i in range(10)]


def main(flights, result, repetitions):
    features, labels = load_svmlight_file(str(flights), n_features=149)
    features = StandardScaler(with_mean=False).fit_transform(features)
    seconds, areas = [], []
    for _ in range(repetitions):
        search = LogisticRegressionCV(
            Cs=[1.0 / (penalty * features.shape[0]) for penalty in PENALTIES],
            cv=KFold(3, shuffle=True, random_state=1), scoring="roc_auc", tol=1e-6, max_iter=1000, n_jobs=os.cpu_count(),
        )
        started = time.monotonic()
        search.fit(features, labels)
        seconds.append(time.monotonic() - started)
        areas = numpy.mean(search.scores_[1.0], axis=0).tolist()
    rows = [{
        "search": "flights, logistic, 3 folds, 10 penalties, in memory", "system": f"scikit-learn {sklearn.__version__}",
        "rows": features.shape[0], "folds": 3, "maps": len(PENALTIES), "seconds": seconds, "metrics": areas,
    }]
    result.write_text(json.dumps(rows, indent=1) + "\n")
    print(rows[0])


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]))
