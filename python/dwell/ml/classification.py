"""``LogisticRegression`` and ``LinearSVC`` with the Params of pyspark's, trained by native code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.ml import classification as stock
from pyspark.ml.param import Param, Params, TypeConverters

from dwell.ml._java import SharingEstimator
from dwell.ml._params import ALGORITHM, HasAlgorithm

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from dwell.ml._keywords import LinearSVCKeywords, LogisticRegressionKeywords

__all__ = ["LinearSVC", "LogisticRegression"]


class LogisticRegression(SharingEstimator, HasAlgorithm, stock.LogisticRegression):
    """pyspark's ``LogisticRegression``, trained by native code.

    Keywords are Spark's, and ``algorithm``, ``orientation``, ``localWork``, ``stepSize``, ``aggregation`` and ``numWorkers``.
    ``fit`` returns pyspark's ``LogisticRegressionModel``.
    """

    _own = ALGORITHM

    def __init__(self, **keywords: Unpack[LogisticRegressionKeywords]):
        super().__init__(**keywords)

    def setParams(self, **keywords: Unpack[LogisticRegressionKeywords]) -> LogisticRegression:
        """Sets Params by their names: Spark's, and Dwell's."""
        self._set_params(keywords)
        return self


class LinearSVC(SharingEstimator, HasAlgorithm, stock.LinearSVC):
    """pyspark's ``LinearSVC``, trained by native code.

    Keywords are Spark's, those of :class:`LogisticRegression`, and ``loss``: ``hinge``, which is Spark's, or ``squaredHinge``.
    ``fit`` returns pyspark's ``LinearSVCModel``.
    """

    loss: Param[str] = Param(
        Params._dummy(), "loss", "loss that is minimised: hinge or squaredHinge", typeConverter=TypeConverters.toString
    )

    _own = {**ALGORITHM, "loss": "hinge"}

    def __init__(self, **keywords: Unpack[LinearSVCKeywords]):
        super().__init__(**keywords)

    def setParams(self, **keywords: Unpack[LinearSVCKeywords]) -> LinearSVC:
        """Sets Params by their names: Spark's, and Dwell's."""
        self._set_params(keywords)
        return self

    def setLoss(self, value: str) -> LinearSVC:
        """Sets :py:attr:`loss`."""
        return self._set(loss=value)

    def getLoss(self) -> str:
        """Gets :py:attr:`loss`."""
        return self.getOrDefault(self.loss)
