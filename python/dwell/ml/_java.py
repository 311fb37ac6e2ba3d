"""What all estimators share: the JVM object behind them, and fits of several Param maps at once."""

from __future__ import annotations

import inspect
import threading
from typing import Any, ClassVar, Generic, Iterator, Mapping, Sequence, TypeVar

from pyspark.ml.param import Param, Params
from pyspark.ml.wrapper import JavaEstimator
from pyspark.sql import DataFrame

from dwell import _connect
from dwell._session import check, is_remote

M = TypeVar("M")


class NativeEstimator:
    """An estimator of pyspark whose JVM object is Dwell's. Models are pyspark's own. The class after it in a list of bases is pyspark's."""

    #: Dwell's Params, with their defaults.
    _own: ClassVar[Mapping[str, Any]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "_own" in vars(cls):
            stock = next(base for base in cls.__mro__ if base.__module__.startswith("pyspark."))
            notes = "Notes\n-----\n"
            cls.__doc__ = inspect.cleandoc(cls.__doc__ or "").replace(notes, _parameters(cls, cls._own) + notes)
            for name in ("__init__", "setParams"):
                vars(cls)[name].__signature__ = _signature(getattr(stock, name), cls._own)

    def __init__(self, **keywords: Any):
        own = self._taken(keywords)
        super().__init__(**keywords)
        estimator: Any = self
        estimator._setDefault(**self._own)
        estimator._set(**own)

    def _set_params(self, given: Mapping[str, Any]) -> None:
        """Sets Params by their names: Spark's, and Dwell's."""
        keywords = dict(given)
        own = self._taken(keywords)
        estimator: Any = super()
        estimator.setParams(**keywords)
        estimator._set(**own)

    def _taken(self, keywords: dict[str, Any]) -> dict[str, Any]:
        """Dwell's keywords, which it takes out."""
        own = {name: keywords.pop(name) for name in self._own if name in keywords}
        return {name: value for name, value in own.items() if value is not None}

    @staticmethod
    def _new_java_obj(java_class: str, *args: Any) -> Any:
        """Makes Dwell's object where pyspark asks for Spark's; for a remote session its name."""
        if not is_remote({}):
            check()
        own = java_class.replace("org.apache.spark.ml.", "dwell.ml.", 1)
        return JavaEstimator._new_java_obj(own, *args)


    def _fit(self, dataset: DataFrame) -> Any:
        fit = super()._fit  # type: ignore[misc]
        return _connect.fitted(fit, dataset) if is_remote({}) else fit(dataset)


def _parameters(kind: Any, own: Mapping[str, Any]) -> str:
    """The section of a docstring on Dwell's keywords, which says what their Params say."""
    entries = [f"{name} : default {default!r}\n    {_sentence(getattr(kind, name).doc)}" for name, default in own.items()]
    return "Parameters\n----------\n" + "\n".join(entries) + "\n\n"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _signature(stock: Any, own: Mapping[str, Any]) -> inspect.Signature:
    """What notebooks and ``help`` show: the keywords of this version of pyspark, and Dwell's, with their defaults."""
    shown = inspect.signature(stock)
    added = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default) for name, default in own.items()]
    names = {one.name for one in added}
    return shown.replace(parameters=[*(one for name, one in shown.parameters.items() if name not in names), *added])


class SharingEstimator(NativeEstimator):
    """An estimator whose fits share the data."""

    def fitMultiple(
        self, dataset: DataFrame, paramMaps: Sequence[dict[Param[Any], Any]]
    ) -> Iterator[tuple[int, Any]]:
        """Fits a model for each Param map. Maps that read the same columns read the data once, and fits start from one another.

        In a remote session each fit reads the data.

        Returns
        -------
        iterator of (int, Model)
            Pairs of the index of a Param map and its model, in the order in which they are fitted; several threads may take
            them. Close it if not all are taken: it holds the data.
        """
        estimator: Any = self
        converted = [{param: param.typeConverter(value) for param, value in one.items()} for one in paramMaps]
        if is_remote({}):
            fits: Iterator[tuple[int, Any]] = super().fitMultiple(dataset, converted)  # type: ignore[misc]
            return fits
        estimator._transfer_params_to_java()
        java = [estimator._transfer_param_map_to_java(one) for one in converted]
        gateway = check()._gateway
        maps = gateway.new_array(gateway.jvm.org.apache.spark.ml.param.ParamMap, len(java))
        for index, one in enumerate(java):
            maps[index] = one
        copies = [Params.copy(estimator, one) for one in converted]
        for one in copies:
            # They only lend their Params to the models. The first that ends would take the JVM object from this estimator.
            one._java_obj = None
        return Fits(estimator._java_obj.fitMultiple(dataset._jdf, maps), copies)


class Fits(Generic[M]):
    """The fits of several Param maps, one at a time."""

    def __init__(self, fits: Any, estimators: Sequence[Any]):
        self._fits = fits
        self._estimators = estimators
        self._left = len(estimators)
        self._lock = threading.Lock()

    def __iter__(self) -> "Fits[M]":
        return self

    def __next__(self) -> tuple[int, M]:
        with self._lock:
            if self._left == 0:
                raise StopIteration
            self._left -= 1
        fitted = self._fits.next()
        index = fitted.index()
        estimator = self._estimators[index]
        return index, estimator._copyValues(estimator._create_model(fitted.model()))

    def close(self) -> None:
        """Releases the data."""
        with self._lock:
            self._left = 0
        self._fits.close()

    def __enter__(self) -> "Fits[M]":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
