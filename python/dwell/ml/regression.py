"""``LinearRegression`` with the Params of pyspark's, trained by native code."""

from __future__ import annotations

from pyspark.ml import regression as stock

from dwell.ml._estimators import LinearEstimator

__all__ = ["LinearRegression"]


class LinearRegression(LinearEstimator, stock.LinearRegression):
    """pyspark's ``LinearRegression``, trained by native code.

    Keywords are Spark's, and ``algorithm``, ``orientation``, ``localWork``, ``stepSize``, ``aggregation`` and ``numWorkers``.
    ``fit`` returns pyspark's ``LinearRegressionModel``.
    """
