"""``LinearRegression`` with the Params of pyspark's, trained by native code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.ml import regression as stock

from dwell.ml._java import SharingEstimator
from dwell.ml._params import ALGORITHM, HasAlgorithm

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from dwell.ml._keywords import LinearRegressionKeywords

__all__ = ["LinearRegression"]


class LinearRegression(SharingEstimator, HasAlgorithm, stock.LinearRegression):
    """pyspark's ``LinearRegression``, trained by native code.

    Keywords are Spark's, and ``algorithm``, ``orientation``, ``localWork``, ``stepSize``, ``aggregation`` and ``numWorkers``.
    ``fit`` returns pyspark's ``LinearRegressionModel``.
    """

    _own = ALGORITHM

    def __init__(self, **keywords: Unpack[LinearRegressionKeywords]):
        super().__init__(**keywords)

    def setParams(self, **keywords: Unpack[LinearRegressionKeywords]) -> LinearRegression:
        """Sets Params by their names: Spark's, and Dwell's."""
        self._set_params(keywords)
        return self
