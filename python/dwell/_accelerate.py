"""Trains pyspark's own estimators by native code, without an edited import."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Iterator, Sequence

from dwell import _connect
from dwell._session import attach, is_remote, say

#: pyspark's module and class, and the method that fits several Param maps at once, if Dwell has it.
_COVERED = [
    ("classification", "LogisticRegression", True),
    ("classification", "LinearSVC", True),
    ("classification", "MultilayerPerceptronClassifier", False),
    ("regression", "LinearRegression", True),
    ("clustering", "LDA", False),
]

_said = False


class accelerate:
    """Lets pyspark's ``LogisticRegression``, ``LinearRegression``, ``LinearSVC``, ``MultilayerPerceptronClassifier`` and ``LDA`` train by native
    code from now on, or no more.

    A session that runs gets the jar if it lacks it, now or with the first fit, as by :func:`dwell.attach`. As a context manager it puts
    back what was before. Estimators, pipelines and models stay pyspark's, also when they are saved: only ``fit`` makes an object of
    Dwell's, for as long as it takes. In a remote session (Spark Connect) the server makes it, and has to have the jar.

    Parameters
    ----------
    on : bool
        Whether they train by native code.

    Raises
    ------
    dwell.DwellError
        If the session that runs cannot get the jar.

    Examples
    --------
    >>> import dwell
    >>> from pyspark.ml.linalg import Vectors
    >>> from pyspark.ml.regression import LinearRegression
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()
    >>> data = spark.createDataFrame([(2.0 * x, Vectors.dense(x)) for x in (0.0, 1.0, 2.0)], ["label", "features"])
    >>> with dwell.accelerate():
    ...     model = LinearRegression().fit(data)
    >>> dwell.report(model).solver
    'native'
    """

    def __init__(self, on: bool = True):
        self._before = _is_on()
        if on:
            _attach()
        _switch(on)

    def __enter__(self) -> accelerate:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _switch(self._before)


def _classes() -> Iterator[tuple[Any, str, bool]]:
    from pyspark.ml import classification, clustering, regression

    modules = {"classification": classification, "clustering": clustering, "regression": regression}
    for module, name, shares in _COVERED:
        yield getattr(modules[module], name), f"dwell.ml.{module}.{name}", shares


def _is_on() -> bool:
    return any("_fit_java" in vars(stock) for stock, _, _ in _classes())


def _switch(on: bool) -> None:
    global _said
    _switch_searches(on)
    for stock, name, shares in _classes():
        if on:
            stock._fit = _fit(stock, name)
            stock._fit_java = _fit_java(name)
            if shares:
                stock.fitMultiple = _fit_multiple(stock, name)
        else:
            for method in ("_fit", "_fit_java", "fitMultiple"):
                if method in vars(stock):
                    delattr(stock, method)
    if on and not _said:
        _said = True
        names = ", ".join(name for _, name, _ in _COVERED)
        say(f"pyspark's {names} train by native code; dwell.accelerate(False) undoes it")


def _switch_searches(on: bool) -> None:
    """Lets pyspark's searches read the rows once."""
    from pyspark.ml import tuning

    from dwell import _search

    searches: list[tuple[Any, Any]] = [
        (tuning.CrossValidator, _search.cross_validate),
        (tuning.TrainValidationSplit, _search.validate),
    ]
    for stock, run in searches:
        if on and not hasattr(stock._fit, "stock"):
            stock._fit = _searching(stock._fit, run)
        elif not on and hasattr(stock._fit, "stock"):
            stock._fit = stock._fit.stock


def _searching(stock: Any, run: Any) -> Any:
    def fit(self: Any, dataset: Any) -> Any:
        return run(self, dataset, _linear, lambda rows: stock(self, rows))

    fit.stock = stock  # type: ignore[attr-defined]
    return fit


def _linear(estimator: Any) -> Any:
    """What trains in the place of a linear estimator of pyspark's, or of Dwell's; None if it is another one, or the session is remote."""
    from pyspark import SparkContext

    from dwell.ml._java import SharingEstimator

    if SparkContext._active_spark_context is None or isinstance(estimator, SharingEstimator):
        return estimator if isinstance(estimator, SharingEstimator) else None
    name = next((name for stock, name, shares in _classes() if shares and type(estimator) is stock), None)
    return None if name is None else _native(estimator, name)


def _attach() -> None:
    if is_remote({}):
        from pyspark.sql import SparkSession

        # One that comes later is checked by its first fit.
        runs = SparkSession.getActiveSession() is not None
    else:
        from pyspark import SparkContext

        runs = SparkContext._active_spark_context is not None
    if runs:
        attach()


def _native(estimator: Any, name: str) -> Any:
    """A copy of an estimator whose JVM object is Dwell's."""
    from pyspark.ml.wrapper import JavaWrapper

    attach()
    copied = estimator.copy()
    copied._java_obj = JavaWrapper._new_java_obj(name, estimator.uid)
    copied._transfer_params_to_java()
    return copied


def _fit(stock: Any, name: str) -> Any:
    """In remote sessions, where no object of the JVM stands behind an estimator, but the name of its class."""

    def fit(self: Any, dataset: Any) -> Any:
        from dwell.ml._java import NativeEstimator

        if not is_remote({}) or isinstance(self, NativeEstimator):
            return super(stock, self)._fit(dataset)
        native = self.copy()
        native._java_obj = name
        return _connect.fitted(super(stock, native)._fit, dataset)

    return fit


def _fit_java(name: str) -> Any:
    def fit(self: Any, dataset: Any) -> Any:
        return _native(self, name)._java_obj.fit(dataset._jdf)

    return fit


def _fit_multiple(stock: Any, name: str) -> Any:
    def fit(self: Any, dataset: Any, paramMaps: Sequence[Any]) -> Any:
        from dwell.ml._java import SharingEstimator

        if is_remote({}):
            return super(stock, self).fitMultiple(dataset, paramMaps)
        return SharingEstimator.fitMultiple(_native(self, name), dataset, paramMaps)

    return fit
