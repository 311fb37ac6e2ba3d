"""``LDA`` with the Params of pyspark's, trained by native code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.ml import clustering as stock

from dwell.ml._java import NativeEstimator
from dwell.ml._params import TOPICS, HasLocalBatch

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from dwell.ml._keywords import LDAKeywords

__all__ = ["LDA"]


class LDA(NativeEstimator, HasLocalBatch, stock.LDA):
    """pyspark's ``LDA``, trained by native code.

    Notes
    -----
    All other keywords are Spark's. ``fit`` returns pyspark's ``LocalLDAModel``.

    Examples
    --------
    >>> from dwell.ml.clustering import LDA
    >>> from pyspark.ml.linalg import Vectors
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()
    >>> data = spark.createDataFrame([(Vectors.dense(4.0, 0.0, 1.0),), (Vectors.dense(0.0, 5.0, 1.0),)], ["features"])
    >>> LDA(k=2, maxIter=2, seed=1).fit(data).vocabSize()
    3
    """

    _own = TOPICS

    def __init__(self, **keywords: Unpack[LDAKeywords]):
        super().__init__(**keywords)

    def setParams(self, **keywords: Unpack[LDAKeywords]) -> LDA:
        """Sets Params by their names: Spark's, and Dwell's."""
        self._set_params(keywords)
        return self
