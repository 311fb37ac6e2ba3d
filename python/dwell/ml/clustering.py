"""``LDA`` with the Params of pyspark's, trained by native code."""

from __future__ import annotations

from pyspark.ml import clustering as stock

from dwell.ml._estimators import TopicEstimator

__all__ = ["LDA"]


class LDA(TopicEstimator, stock.LDA):
    """pyspark's ``LDA``, trained by native code.

    Keywords are Spark's, and ``localBatch``, ``topicEstimate``, ``aggregation`` and ``numWorkers``. ``fit`` returns pyspark's
    ``LocalLDAModel``.
    """
