"""Constructors and setters of the estimators: Spark's keywords, and Dwell's."""

from __future__ import annotations

from typing import Any, TypeVar

from dwell.ml._java import NativeEstimator, SharingEstimator
from dwell.ml._params import HasAlgorithm, HasLocalBatch

L = TypeVar("L", bound="LinearEstimator")
T = TypeVar("T", bound="TopicEstimator")


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


class LinearEstimator(SharingEstimator, HasAlgorithm):
    """A linear estimator. The class after it in a list of bases is pyspark's."""

    def __init__(
        self,
        *,
        algorithm: str | None = None,
        orientation: str | None = None,
        localWork: float | str | None = None,
        stepSize: float | str | None = None,
        aggregation: str | None = None,
        numWorkers: int | None = None,
        **spark: Any,
    ):
        super().__init__(**spark)
        self._setDefault(
            algorithm="auto",
            orientation="auto",
            localWork="auto",
            stepSize="auto",
            aggregation="auto",
            numWorkers=0,
        )
        self._set(
            **_given(
                algorithm=algorithm,
                orientation=orientation,
                localWork=localWork,
                stepSize=stepSize,
                aggregation=aggregation,
                numWorkers=numWorkers,
            )
        )

    def setParams(
        self: L,
        *,
        algorithm: str | None = None,
        orientation: str | None = None,
        localWork: float | str | None = None,
        stepSize: float | str | None = None,
        aggregation: str | None = None,
        numWorkers: int | None = None,
        **spark: Any,
    ) -> L:
        """Sets Params by their names: Spark's, and Dwell's."""
        super().setParams(**spark)  # type: ignore[misc]
        return self._set(
            **_given(
                algorithm=algorithm,
                orientation=orientation,
                localWork=localWork,
                stepSize=stepSize,
                aggregation=aggregation,
                numWorkers=numWorkers,
            )
        )


class TopicEstimator(NativeEstimator, HasLocalBatch):
    """An estimator of topics. The class after it in a list of bases is pyspark's."""

    def __init__(
        self,
        *,
        localBatch: int | None = None,
        topicEstimate: str | None = None,
        aggregation: str | None = None,
        numWorkers: int | None = None,
        **spark: Any,
    ):
        super().__init__(**spark)
        self._setDefault(localBatch=0, topicEstimate="variational", aggregation="auto", numWorkers=0)
        self._set(
            **_given(
                localBatch=localBatch,
                topicEstimate=topicEstimate,
                aggregation=aggregation,
                numWorkers=numWorkers,
            )
        )

    def setParams(
        self: T,
        *,
        localBatch: int | None = None,
        topicEstimate: str | None = None,
        aggregation: str | None = None,
        numWorkers: int | None = None,
        **spark: Any,
    ) -> T:
        """Sets Params by their names: Spark's, and Dwell's."""
        super().setParams(**spark)  # type: ignore[misc]
        return self._set(
            **_given(
                localBatch=localBatch,
                topicEstimate=topicEstimate,
                aggregation=aggregation,
                numWorkers=numWorkers,
            )
        )
