"""The keywords of the estimators, for type checkers: Spark's, and Dwell's. At run time nothing is imported from here."""

from __future__ import annotations

from typing import List, Optional, TypedDict

from pyspark.ml.linalg import Matrix, Vector


class WorkerKeywords(TypedDict, total=False):
    """Of all estimators."""

    aggregation: str
    numWorkers: int


class AlgorithmKeywords(WorkerKeywords, total=False):
    """Of the estimators that offer several algorithms."""

    algorithm: str
    localWork: float | str


class LinearKeywords(AlgorithmKeywords, total=False):
    """Of the linear estimators."""

    orientation: str
    stepSize: float | str
    featuresCol: str
    labelCol: str
    predictionCol: str
    weightCol: Optional[str]
    maxIter: int
    regParam: float
    tol: float
    fitIntercept: bool
    standardization: bool
    aggregationDepth: int
    maxBlockSizeInMB: float


class LogisticRegressionKeywords(LinearKeywords, total=False):
    """Of ``LogisticRegression``."""

    elasticNetParam: float
    threshold: float
    thresholds: Optional[List[float]]
    probabilityCol: str
    rawPredictionCol: str
    family: str
    lowerBoundsOnCoefficients: Optional[Matrix]
    upperBoundsOnCoefficients: Optional[Matrix]
    lowerBoundsOnIntercepts: Optional[Vector]
    upperBoundsOnIntercepts: Optional[Vector]


class LinearSVCKeywords(LinearKeywords, total=False):
    """Of ``LinearSVC``."""

    loss: str
    rawPredictionCol: str
    threshold: float


class MultilayerPerceptronClassifierKeywords(AlgorithmKeywords, total=False):
    """Of ``MultilayerPerceptronClassifier``."""

    featuresCol: str
    labelCol: str
    predictionCol: str
    maxIter: int
    tol: float
    seed: Optional[int]
    layers: Optional[List[int]]
    blockSize: int
    stepSize: float
    solver: str
    initialWeights: Optional[Vector]
    probabilityCol: str
    rawPredictionCol: str


class LinearRegressionKeywords(LinearKeywords, total=False):
    """Of ``LinearRegression``."""

    elasticNetParam: float
    solver: str
    loss: str
    epsilon: float


class LDAKeywords(WorkerKeywords, total=False):
    """Of ``LDA``."""

    localBatch: int
    topicEstimate: str
    featuresCol: str
    maxIter: int
    seed: Optional[int]
    checkpointInterval: int
    k: int
    optimizer: str
    learningOffset: float
    learningDecay: float
    subsamplingRate: float
    optimizeDocConcentration: bool
    docConcentration: Optional[List[float]]
    topicConcentration: Optional[float]
    topicDistributionCol: str
    keepLastCheckpoint: bool
