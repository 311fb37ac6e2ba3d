"""``CrossValidator`` and ``TrainValidationSplit`` of pyspark, which read the rows once for all folds and Param maps."""

from __future__ import annotations

from typing import Any

from pyspark.ml import tuning as stock
from pyspark.sql import DataFrame

from dwell import _search
from dwell.ml._java import SharingEstimator

__all__ = ["CrossValidator", "TrainValidationSplit"]


def _native(estimator: Any) -> Any:
    return estimator if isinstance(estimator, SharingEstimator) else None


class CrossValidator(stock.CrossValidator):
    """pyspark's ``CrossValidator``, which reads the rows once for all folds and Param maps.

    Notes
    -----
    All keywords are Spark's, and so are the folds, the metrics and the ``CrossValidatorModel``. The rows are read once where the estimator
    is one of ``dwell.ml`` that trains a linear model, or a ``Pipeline`` that ends with one and whose other stages are pyspark's own and keep
    all rows; once for each training set where a stage needs a fit. Otherwise pyspark's own search runs. Fits take turns, whatever ``parallelism`` is.

    Examples
    --------
    >>> from dwell.ml.classification import LogisticRegression
    >>> from dwell.ml.tuning import CrossValidator
    >>> from pyspark.ml.evaluation import BinaryClassificationEvaluator
    >>> from pyspark.ml.linalg import Vectors
    >>> from pyspark.ml.tuning import ParamGridBuilder
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()
    >>> rows = [(float(i % 2), Vectors.dense(i % 2 + 0.1 * (i % 7), i % 3)) for i in range(60)]
    >>> data = spark.createDataFrame(rows, ["label", "features"])
    >>> estimator = LogisticRegression()
    >>> grid = ParamGridBuilder().addGrid(estimator.regParam, [0.1, 0.01]).build()
    >>> search = CrossValidator(estimator=estimator, estimatorParamMaps=grid, evaluator=BinaryClassificationEvaluator(), seed=1)
    >>> len(search.fit(data).avgMetrics)
    2
    """

    def _fit(self, dataset: DataFrame) -> Any:
        return _search.cross_validate(self, dataset, _native, super()._fit)


class TrainValidationSplit(stock.TrainValidationSplit):
    """pyspark's ``TrainValidationSplit``, which reads the rows once for all Param maps.

    Notes
    -----
    See :class:`CrossValidator`.
    """

    def _fit(self, dataset: DataFrame) -> Any:
        return _search.validate(self, dataset, _native, super()._fit)
