"""Searches for the best map of Params that read the rows once, on the folds of pyspark's validators."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from pyspark.ml import Pipeline
from pyspark.ml.wrapper import JavaParams, JavaWrapper
from pyspark.sql import DataFrame, functions

from dwell._session import check

#: Gives the estimator whose JVM object is Dwell's; None if there is none.
Native = Callable[[Any], Any]


class Search:
    """All maps of Params, fitted and evaluated. It holds the rows until it is closed."""

    def __init__(self, search: Any):
        self._search = search
        self.metrics = [list(row) for row in search.metrics()]

    def models(self) -> list[list[Any]]:
        """The models by training set and map."""
        return [[JavaParams._from_java(model) for model in row] for row in self._search.models()]

    def on_all_rows(self, index: int) -> Any:
        """The model of a map on all rows."""
        return JavaParams._from_java(self._search.onAllRows(index))

    def __enter__(self) -> Search:
        return self

    def __exit__(self, *error: object) -> None:
        self._search.close()


def cross_validate(validator: Any, dataset: DataFrame, native: Native, stock: Callable[[DataFrame], Any]) -> Any:
    """What ``CrossValidator`` fits; by ``stock`` where the rows cannot be read once."""
    from pyspark.ml.tuning import CrossValidatorModel

    count = validator.getNumFolds()
    if validator.getFoldCol():
        frame, column = dataset, validator.getFoldCol()
    else:
        column = validator.uid + "_fold"
        drawn = dataset.select("*", functions.rand(validator.getSeed()).alias(column + "_rand"))
        number, width = functions.col(column + "_rand"), 1.0 / count
        named = functions.lit(-1)
        for fold in reversed(range(count)):
            within = (number >= fold * width) & (number < (fold + 1) * width)
            named = functions.when(within, functions.lit(fold)).otherwise(named)
        frame = drawn.withColumn(column, named).drop(column + "_rand")
    search = _opened(validator, frame, column, count, True, native)
    if search is None:
        return stock(dataset)
    with search:
        metrics, deviations = type(validator)._gen_avg_and_std_metrics(search.metrics)
        best = search.on_all_rows(_best(validator, metrics))
        models = search.models() if validator.getCollectSubModels() else None
        return validator._copyValues(CrossValidatorModel(best, metrics, models, deviations))


def validate(validator: Any, dataset: DataFrame, native: Native, stock: Callable[[DataFrame], Any]) -> Any:
    """What ``TrainValidationSplit`` fits; by ``stock`` where the rows cannot be read once."""
    from pyspark.ml.tuning import TrainValidationSplitModel

    column = validator.uid + "_fold"
    drawn = functions.rand(validator.getSeed()) >= validator.getTrainRatio()
    search = _opened(validator, dataset.select("*", drawn.cast("int").alias(column)), column, 2, False, native)
    if search is None:
        return stock(dataset)
    with search:
        best = search.on_all_rows(_best(validator, search.metrics[0]))
        models = search.models()[0] if validator.getCollectSubModels() else None
        return validator._copyValues(TrainValidationSplitModel(best, search.metrics[0], models))


def _best(validator: Any, metrics: Sequence[float]) -> int:
    """As ``numpy.argmax`` and ``argmin``: the first of several, and the first that is not a number before all."""
    numbered = range(len(metrics))
    unknown = [index for index in numbered if metrics[index] != metrics[index]]
    if unknown:
        return unknown[0]
    return (max if validator.getEvaluator().isLargerBetter() else min)(numbered, key=lambda index: metrics[index])


def _opened(validator: Any, frame: DataFrame, column: str, count: int, is_cross: bool, native: Native) -> Search | None:
    estimator, evaluator = validator.getEstimator(), validator.getEvaluator()
    stages: list[Any] = estimator.getStages() if isinstance(estimator, Pipeline) else [estimator]
    linear = native(stages[-1]) if stages else None
    maps = validator.getEstimatorParamMaps()
    others = [param for one in maps for param in one if linear is None or param.parent != linear.uid]
    if linear is None or others or not all(isinstance(part, (JavaParams, JavaWrapper)) for part in [*stages, evaluator]):
        return None
    java = linear._to_java()
    converted = [{param: param.typeConverter(value) for param, value in one.items()} for one in maps]
    java_maps = [linear._transfer_param_map_to_java(one) for one in converted]
    if isinstance(estimator, Pipeline):
        java = _pipeline(estimator, [*(stage._to_java() for stage in stages[:-1]), java])
    jvm: Any = frame.sparkSession._jvm
    listed = jvm.java.util.ArrayList()
    for one in java_maps:
        listed.add(one)
    keeps = validator.getCollectSubModels()
    search = jvm.dwell.ml.tuning.NamedFolds.open(validator.uid, java, evaluator._to_java(), listed, frame._jdf, column, count, is_cross, keeps)
    return None if search is None else Search(search)


def _pipeline(estimator: Pipeline, stages: list[Any]) -> Any:
    made = JavaWrapper._new_java_obj("org.apache.spark.ml.Pipeline", estimator.uid)
    return made.setStages(JavaWrapper._new_java_array(stages, check()._jvm.org.apache.spark.ml.PipelineStage))
