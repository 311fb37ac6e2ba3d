"""``LogisticRegression``, ``LinearSVC`` and ``MultilayerPerceptronClassifier`` with the Params of pyspark's, trained by native code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.ml import classification as stock
from pyspark.ml.param import Param, Params, TypeConverters

from dwell.ml._java import NativeEstimator, SharingEstimator
from dwell.ml._params import ALGORITHM, LINEAR, HasAlgorithm, HasCoordinates

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from dwell.ml._keywords import LinearSVCKeywords, LogisticRegressionKeywords, MultilayerPerceptronClassifierKeywords

__all__ = ["LinearSVC", "LogisticRegression", "MultilayerPerceptronClassifier"]


class LogisticRegression(SharingEstimator, HasCoordinates, stock.LogisticRegression):
    """pyspark's ``LogisticRegression``, trained by native code.

    Notes
    -----
    All other keywords are Spark's. ``fit`` returns pyspark's ``LogisticRegressionModel``.

    Examples
    --------
    >>> from dwell.ml.classification import LogisticRegression
    >>> from pyspark.ml.linalg import Vectors
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()
    >>> data = spark.createDataFrame([(float(x > 1), Vectors.dense(x, x * x)) for x in (0.0, 1.0, 2.0, 3.0)], ["label", "features"])
    >>> model = LogisticRegression(regParam=0.1).fit(data)
    >>> model.predict(Vectors.dense(3.0, 9.0))
    1.0
    """

    _own = LINEAR

    def __init__(self, **keywords: Unpack[LogisticRegressionKeywords]):
        super().__init__(**keywords)

    def setParams(self, **keywords: Unpack[LogisticRegressionKeywords]) -> LogisticRegression:
        """Sets Params by their names: Spark's, and Dwell's."""
        self._set_params(keywords)
        return self


class LinearSVC(SharingEstimator, HasCoordinates, stock.LinearSVC):
    """pyspark's ``LinearSVC``, trained by native code.

    Notes
    -----
    All other keywords are Spark's. The default of ``loss`` is the loss of Spark's. ``fit`` returns pyspark's ``LinearSVCModel``.

    Examples
    --------
    >>> from dwell.ml.classification import LinearSVC
    >>> from pyspark.ml.linalg import Vectors
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()
    >>> data = spark.createDataFrame([(float(x > 1), Vectors.dense(x, x * x)) for x in (0.0, 1.0, 2.0, 3.0)], ["label", "features"])
    >>> model = LinearSVC(regParam=0.1, loss="squaredHinge").fit(data)
    >>> model.predict(Vectors.dense(3.0, 9.0))
    1.0
    """

    loss: Param[str] = Param(
        Params._dummy(), "loss", "loss that is minimised: hinge or squaredHinge", typeConverter=TypeConverters.toString
    )

    _own = {**LINEAR, "loss": "hinge"}

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


class MultilayerPerceptronClassifier(NativeEstimator, HasAlgorithm, stock.MultilayerPerceptronClassifier):
    """pyspark's ``MultilayerPerceptronClassifier``, trained by native code.

    Notes
    -----
    All other keywords are Spark's. With ``algorithm`` ma-sgd ``blockSize`` is the rows of a step, and ``stepSize``, if it is set, the first step size.
    ``fit`` returns pyspark's ``MultilayerPerceptronClassificationModel``.

    Examples
    --------
    >>> from dwell.ml.classification import MultilayerPerceptronClassifier
    >>> from pyspark.ml.linalg import Vectors
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()
    >>> either = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]
    >>> data = spark.createDataFrame([(float(a != b), Vectors.dense(a, b)) for a, b in either], ["label", "features"])
    >>> model = MultilayerPerceptronClassifier(layers=[2, 5, 2], seed=1).fit(data)
    >>> model.predict(Vectors.dense(1.0, 0.0))
    1.0
    """

    _own = ALGORITHM

    def __init__(self, **keywords: Unpack[MultilayerPerceptronClassifierKeywords]):
        super().__init__(**keywords)

    def setParams(self, **keywords: Unpack[MultilayerPerceptronClassifierKeywords]) -> MultilayerPerceptronClassifier:
        """Sets Params by their names: Spark's, and Dwell's."""
        self._set_params(keywords)
        return self
