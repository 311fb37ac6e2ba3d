#!/usr/bin/env python3
"""Writes the sample pages of docs/samples, or of a folder that is named: reports of five fits on generated data.

Usage: samples.py [FOLDER]
"""

import pathlib
import random
import sys

import dwell
from dwell.ml.classification import LinearSVC, LogisticRegression
from dwell.ml.clustering import LDA
from dwell.ml.regression import LinearRegression
from dwell.ml.tuning import CrossValidator
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.ml.linalg import Vectors
from pyspark.ml.tuning import ParamGridBuilder
from pyspark.sql import SparkSession


def samples(spark):
    """The name of each sample, and its model."""
    draw = random.Random(1)
    truth = [draw.gauss(0, 1) if j < 8 else 0.0 for j in range(40)]
    rows = []
    for _ in range(4000):
        x = [draw.gauss(0, 1) for _ in truth]
        number = sum(a * b for a, b in zip(x, truth)) + draw.gauss(0, 1)
        rows.append((float(number > 0.5), number, Vectors.dense(x)))
    table = spark.createDataFrame(rows, ["label", "number", "features"]).cache()
    words = [Vectors.sparse(60, sorted({k % 3 * 20 + int(20 * draw.random() ** 2): 1.0 + draw.randrange(4) for _ in range(30)}.items())) for k in range(600)]
    yield "logistic", LogisticRegression().fit(table)
    yield "elastic-net", LinearRegression(labelCol="number", regParam=0.05, elasticNetParam=0.5).fit(table)
    yield "hinge", LinearSVC(regParam=0.01).fit(table)
    yield "topics", LDA(k=3, maxIter=15, seed=1).fit(spark.createDataFrame([(one,) for one in words], ["features"]))
    logistic = LogisticRegression()
    grid = ParamGridBuilder().addGrid(logistic.regParam, [0.001, 0.01, 0.1]).addGrid(logistic.elasticNetParam, [0.0, 1.0]).build()
    yield "search", CrossValidator(estimator=logistic, estimatorParamMaps=grid, evaluator=BinaryClassificationEvaluator(), seed=1).fit(table)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    spark = dwell.configure(SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")).getOrCreate()
    for name, model in samples(spark):
        dwell.report(model).write_html(folder / f"{name}.html")
    spark.stop()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "docs" / "samples")
