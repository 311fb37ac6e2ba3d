"""The Params that Dwell adds to Spark's. docs/params.md says when to set each one."""

from __future__ import annotations

from typing import Any, Mapping, TypeVar

from pyspark.ml.param import Param, Params, TypeConverters

S = TypeVar("S", bound="HasWorkers")
L = TypeVar("L", bound="HasAlgorithm")
C = TypeVar("C", bound="HasCoordinates")
T = TypeVar("T", bound="HasLocalBatch")


def auto_or_number(value: Any) -> str:
    """A positive number, or ``auto``, as the JVM takes it."""
    return value if isinstance(value, str) else str(TypeConverters.toFloat(value))


class HasWorkers(Params):
    """Params of all estimators."""

    aggregation: Param[str] = Param(
        Params._dummy(),
        "aggregation",
        "how updates travel between rounds: auto, gang, driver or shuffle",
        typeConverter=TypeConverters.toString,
    )
    numWorkers: Param[int] = Param(
        Params._dummy(),
        "numWorkers",
        "number of partitions that train side by side (>= 0); 0 chooses by the size of the data",
        typeConverter=TypeConverters.toInt,
    )

    def setAggregation(self: S, value: str) -> S:
        """Sets :py:attr:`aggregation`."""
        return self._set(aggregation=value)

    def getAggregation(self) -> str:
        """Gets :py:attr:`aggregation`."""
        return self.getOrDefault(self.aggregation)

    def setNumWorkers(self: S, value: int) -> S:
        """Sets :py:attr:`numWorkers`."""
        return self._set(numWorkers=value)

    def getNumWorkers(self) -> int:
        """Gets :py:attr:`numWorkers`."""
        return self.getOrDefault(self.numWorkers)


#: Defaults.
WORKERS: Mapping[str, Any] = {"aggregation": "auto", "numWorkers": 0}
ALGORITHM: Mapping[str, Any] = {**WORKERS, "algorithm": "auto", "localWork": "auto"}
LINEAR: Mapping[str, Any] = {**ALGORITHM, "orientation": "auto", "stepSize": "auto"}
TOPICS: Mapping[str, Any] = {**WORKERS, "localBatch": 0, "topicEstimate": "variational"}


class HasAlgorithm(HasWorkers):
    """Params of the estimators that offer several algorithms."""

    algorithm: Param[str] = Param(
        Params._dummy(),
        "algorithm",
        "training algorithm: auto, ma-sgd or l-bfgs; of linear models also cocoa or newton",
        typeConverter=TypeConverters.toString,
    )
    localWork: Param[str] = Param(
        Params._dummy(),
        "localWork",
        "local work in a round, as a fraction of the local coordinates (> 0), or auto",
        typeConverter=auto_or_number,
    )

    def setAlgorithm(self: L, value: str) -> L:
        """Sets :py:attr:`algorithm`."""
        return self._set(algorithm=value)

    def getAlgorithm(self) -> str:
        """Gets :py:attr:`algorithm`."""
        return self.getOrDefault(self.algorithm)

    def setLocalWork(self: L, value: float | str) -> L:
        """Sets :py:attr:`localWork`."""
        return self._set(localWork=value)

    def getLocalWork(self) -> str:
        """Gets :py:attr:`localWork`."""
        return self.getOrDefault(self.localWork)


class HasCoordinates(HasAlgorithm):
    """Params of the linear estimators."""

    orientation: Param[str] = Param(
        Params._dummy(),
        "orientation",
        "orientation of CoCoA: auto, primal or dual",
        typeConverter=TypeConverters.toString,
    )
    stepSize: Param[str] = Param(
        Params._dummy(),
        "stepSize",
        "first step size of local SGD (> 0), or auto",
        typeConverter=auto_or_number,
    )

    def setOrientation(self: C, value: str) -> C:
        """Sets :py:attr:`orientation`."""
        return self._set(orientation=value)

    def getOrientation(self) -> str:
        """Gets :py:attr:`orientation`."""
        return self.getOrDefault(self.orientation)

    def setStepSize(self: C, value: float | str) -> C:
        """Sets :py:attr:`stepSize`."""
        return self._set(stepSize=value)

    def getStepSize(self) -> str:
        """Gets :py:attr:`stepSize`."""
        return self.getOrDefault(self.stepSize)


class HasLocalBatch(HasWorkers):
    """Params of LDA."""

    localBatch: Param[int] = Param(
        Params._dummy(),
        "localBatch",
        "documents of one step of a worker (>= 0); 0 chooses by the number of workers",
        typeConverter=TypeConverters.toInt,
    )
    topicEstimate: Param[str] = Param(
        Params._dummy(),
        "topicEstimate",
        "estimate of the topics in training: variational or mean",
        typeConverter=TypeConverters.toString,
    )

    def setLocalBatch(self: T, value: int) -> T:
        """Sets :py:attr:`localBatch`."""
        return self._set(localBatch=value)

    def getLocalBatch(self) -> int:
        """Gets :py:attr:`localBatch`."""
        return self.getOrDefault(self.localBatch)

    def setTopicEstimate(self: T, value: str) -> T:
        """Sets :py:attr:`topicEstimate`."""
        return self._set(topicEstimate=value)

    def getTopicEstimate(self) -> str:
        """Gets :py:attr:`topicEstimate`."""
        return self.getOrDefault(self.topicEstimate)
