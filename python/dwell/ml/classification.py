"""``LogisticRegression`` and ``LinearSVC`` with the Params of pyspark's, trained by native code."""

from __future__ import annotations

from typing import Any

from pyspark.ml import classification as stock
from pyspark.ml.param import Param, Params, TypeConverters

from dwell.ml._estimators import LinearEstimator

__all__ = ["LinearSVC", "LogisticRegression"]


class LogisticRegression(LinearEstimator, stock.LogisticRegression):
    """pyspark's ``LogisticRegression``, trained by native code.

    Keywords are Spark's, and ``algorithm``, ``orientation``, ``localWork``, ``stepSize``, ``aggregation`` and ``numWorkers``.
    ``fit`` returns pyspark's ``LogisticRegressionModel``.
    """


class LinearSVC(LinearEstimator, stock.LinearSVC):
    """pyspark's ``LinearSVC``, trained by native code.

    Keywords are Spark's, those of :class:`LogisticRegression`, and ``loss``: ``hinge``, which is Spark's, or ``squaredHinge``.
    ``fit`` returns pyspark's ``LinearSVCModel``.
    """

    loss: Param[str] = Param(
        Params._dummy(), "loss", "loss that is minimised: hinge or squaredHinge", typeConverter=TypeConverters.toString
    )

    def __init__(self, *, loss: str | None = None, **others: Any):
        super().__init__(**others)
        self._setDefault(loss="hinge")
        if loss is not None:
            self._set(loss=loss)

    def setParams(self, *, loss: str | None = None, **others: Any) -> LinearSVC:
        """Sets Params by their names: Spark's, and Dwell's."""
        super().setParams(**others)
        return self if loss is None else self._set(loss=loss)

    def setLoss(self, value: str) -> LinearSVC:
        """Sets :py:attr:`loss`."""
        return self._set(loss=value)

    def getLoss(self) -> str:
        """Gets :py:attr:`loss`."""
        return self.getOrDefault(self.loss)
