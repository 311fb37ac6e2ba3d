"""``LinearRegression`` with the Params of pyspark's, trained by native code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.ml import regression as stock

from dwell.ml._java import SharingEstimator
from dwell.ml._params import LINEAR, HasCoordinates

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from dwell.ml._keywords import LinearRegressionKeywords

__all__ = ["LinearRegression"]


class LinearRegression(SharingEstimator, HasCoordinates, stock.LinearRegression):
    """pyspark's ``LinearRegression``, trained by native code.

    Notes
    -----
    All other keywords are Spark's. ``fit`` returns pyspark's ``LinearRegressionModel``.

    Examples
    --------
    >>> from dwell.ml.regression import LinearRegression
    >>> from pyspark.ml.linalg import Vectors
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()
    >>> data = spark.createDataFrame([(1.0 + 2.0 * x, Vectors.dense(x, x * x)) for x in (0.0, 1.0, 2.0, 3.0)], ["label", "features"])
    >>> model = LinearRegression().fit(data)
    >>> round(model.intercept, 6)
    1.0
    """

    _own = LINEAR

    def __init__(self, **keywords: Unpack[LinearRegressionKeywords]):
        super().__init__(**keywords)

    def setParams(self, **keywords: Unpack[LinearRegressionKeywords]) -> LinearRegression:
        """Sets Params by their names: Spark's, and Dwell's."""
        self._set_params(keywords)
        return self
