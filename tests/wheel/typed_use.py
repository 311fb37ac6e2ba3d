"""What users write, for the type checker: wheelTest does not run it."""

import dwell
from dwell.ml.classification import LinearSVC, LogisticRegression, MultilayerPerceptronClassifier
from dwell.ml.clustering import LDA
from dwell.ml.regression import LinearRegression
from pyspark.ml.classification import LogisticRegressionModel
from pyspark.sql import DataFrame, SparkSession


def session() -> SparkSession:
    return dwell.configure(SparkSession.builder).getOrCreate()


def fit(data: DataFrame) -> LogisticRegressionModel:
    estimator = LogisticRegression(regParam=0.1, algorithm="newton", localWork=2.0).setParams(maxIter=5).setNumWorkers(2)
    report = dwell.report(estimator.fit(data))
    gap: float | None = report.relative_gap
    print(gap, report.phases.total, [one.objective for one in report.rounds])
    model: LogisticRegressionModel = estimator.fit(data)
    return model


def others(data: DataFrame) -> int:
    LinearSVC(loss="squaredHinge").setLoss("hinge").fit(data)
    LinearRegression(solver="normal", aggregation="gang").fit(data)
    MultilayerPerceptronClassifier(layers=[2, 3, 2], algorithm="ma-sgd", localWork=1, stepSize=0.5, numWorkers=1).setParams(maxIter=5).fit(data)
    with dwell.accelerate():
        return LDA(k=3, localBatch=10).setTopicEstimate("mean").getLocalBatch()


# What a type checker must refuse: the comment would be unused otherwise.
LogisticRegression(regParm=0.1)  # type: ignore[call-arg]
LinearRegression(maxIter="many")  # type: ignore[arg-type]
