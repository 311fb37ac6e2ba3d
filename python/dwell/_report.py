"""How a model was trained: the report that the JVM keeps of each fit, as a frozen dataclass.

Nothing of a report is rendered before somebody asks for it. The JVM outlives the Spark session, and with it the report, which has no need of Spark.
"""

from __future__ import annotations

import dataclasses
import functools
import html
import json
import math
import pathlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

from dwell import _connect
from dwell._session import DwellError, check, is_remote

if TYPE_CHECKING:
    from pyspark.ml import PipelineModel
    from pyspark.ml.classification import OneVsRestModel

#: The version of the schema of ``FitReport.toJson`` that this package reads.
SCHEMA = 1


@dataclasses.dataclass(frozen=True)
class Phases:
    """The seconds of a fit by phase; their sum is the whole fit.

    ``workers``, ``leader`` and ``transport`` are the rounds. ``spark`` is Spark's own code, where it trained. NaN: no number.
    """

    reading: float
    set_up: float
    workers: float
    leader: float
    transport: float
    model: float
    spark: float
    rest: float

    @property
    def total(self) -> float:
        """Seconds of the whole fit."""
        return float(sum(dataclasses.astuple(self)))


@dataclasses.dataclass(frozen=True)
class Round:
    """A round. Round 0 is the start.

    Attributes
    ----------
    objective
        F after the round.
    gap
        F - F* is at most this; None without a bound.
    elapsed
        Seconds since the start of the rounds.
    seconds
        Of the round: the slowest worker, the leader, and the rest.
    local_work
        Epochs over the local data.
    state_losses
        Partitions that had lost their state.
    """

    round: int
    objective: float
    gap: float | None
    elapsed: float
    seconds: float
    worker_seconds: float
    leader_seconds: float
    overhead_seconds: float
    local_work: float
    state_losses: int
    note: str


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A map of Params that tuning has tried.

    Attributes
    ----------
    params
        The values by the names of their Params; with the uid of its stage before a name that several stages have.
    metric
        The evaluator's, in the mean of the folds.
    deviation
        The standard deviation over the folds; None without folds.
    is_best
        Whether the model has these Params.
    seconds
        Of the fit on each training set; empty where the rows were not read once for all.
    rounds
        Of the fit on each training set; empty likewise.
    """

    params: dict[str, Any]
    metric: float
    deviation: float | None
    is_best: bool
    seconds: tuple[float, ...] = ()
    rounds: tuple[int, ...] = ()

    def __str__(self) -> str:
        spread = "" if self.deviation is None else f" +- {self.deviation:.2g}"
        values = ", ".join(f"{name}={value}" for name, value in self.params.items())
        return f"{self.metric:.6g}{spread}  {values or 'as the estimator is'}{'  (best)' if self.is_best else ''}"


@dataclasses.dataclass(frozen=True, repr=False)
class Report:
    """How a model was trained, and how near to the optimum it is. :func:`dwell.report` makes it.

    The JVM renders its fields, text and page when they are first asked for, also after the session has stopped. A pickle has all of them.
    The server of a remote session (Spark Connect) renders them for :func:`dwell.report`.

    Attributes
    ----------
    estimator
        The class of the estimator.
    params
        Values of its columns, of the Params that decide most, and of all Params that were set, by their names.
    dwell_version
        The version that trained.
    date
        When the fit ended, in UTC (ISO 8601).
    solver
        ``native``, or ``spark`` where Spark's own code trained.
    reason
        Why Spark's own code trained; None if it did not.
    algorithm
        What trained, such as ``cocoa``, ``newton`` or ``ma-lda``.
    choice
        Why this algorithm and this form; empty where there was no choice.
    handover
        Why a second algorithm went on; empty if none did.
    objective
        Of the model, in units of the label; for topics minus the bound on the likelihood by token; None where Spark trained.
    dual
        Best lower bound of the objective over all models; None without one.
    gap
        ``objective - dual``.
    relative_gap
        Bound of (F - F*) / F.
    tolerance
        The Param ``tol``.
    converged
        Whether the stop rule was met within ``maxIter`` rounds.
    one_class
        Of ``LinearSVC`` by ``newton``: the share of the rows' weight that the model predicts as one class, if it is 99% or
        more and the other class has more than 1% of the weight; None otherwise.
    coefficients
        Coefficients of a linear model, intercepts left out; 0 for topics.
    nonzero_coefficients
        How many of them are not 0.
    explained
        The least share of the deviance that the model explains: 1 minus the objective over the objective of the best model without
        coefficients. None where there is no deviance (hinge, huber, topics), for several classes that nobody has counted, and where Spark
        trained.
    data_bytes
        Of the training data in the form of the solvers, all partitions together.
    peak_bytes
        The most at a time, while the data came into form.
    rounds
        The start and the rounds; of more than 10,000 those that share the way evenly, the first and the last among them.
    search
        Of a model that tuning has chosen: what was tried, in the order of the maps. No part of a comparison of reports.
    """

    uid: str
    estimator: str
    params: dict[str, Any]
    dwell_version: str
    date: str
    solver: str
    reason: str | None
    algorithm: str
    orientation: str
    choice: str
    handover: str
    aggregation: str
    restarts: int
    objective: float | None
    dual: float | None
    gap: float | None
    relative_gap: float | None
    tolerance: float
    converged: bool
    one_class: float | None
    coefficients: int
    nonzero_coefficients: int
    explained: float | None
    rows: int
    features: int
    nonzeros: int
    partitions: int
    data_bytes: int
    peak_bytes: int
    phases: Phases
    rounds: tuple[Round, ...]
    search: tuple[Candidate, ...] = dataclasses.field(default=(), compare=False)

    @classmethod
    def _of(cls, java: Any, search: tuple[Candidate, ...]) -> Report:
        one = object.__new__(cls)
        vars(one).update(_java=java, _tried=search)
        return one

    if not TYPE_CHECKING:  # A checker would take it that every name exists.

        def __getattr__(self, name: str) -> Any:
            if name not in self.__dataclass_fields__:
                raise AttributeError(f"'Report' object has no attribute '{name}'")
            fields = _fields(json.loads(vars(self)["_java"].toJson()))
            # Where a search has read the rows once, text and page of the JVM tell of it.
            if fields["search"]:
                vars(self)["_tried"] = ()
            vars(self).update({**fields, "search": fields["search"] or vars(self)["_tried"]})
            return vars(self)[name]

    def __repr__(self) -> str:
        asked = " ".join(f"{name}={value}" for name, value in self.params.items() if not name.endswith("Col"))
        if self.relative_gap is not None:
            proof = f"no model has an objective lower than {self.objective:.6g} by more than {100.0 * self.relative_gap:.2g}%"
        else:
            proof = "" if self.objective is None else f"objective {self.objective:.6g}, without a bound"
        found = [] if not self.coefficients else [f"{self.nonzero_coefficients:,} of {self.coefficients:,} coefficients are not 0"]
        if self.explained is not None and self.explained > 0.0:
            found.append(f"at least {100.0 * self.explained:.1f}% of the deviance explained")
        seconds = [
            f"{field.name.replace('_', '-')} {value:.2f}"
            for field in dataclasses.fields(Phases)
            if (value := getattr(self.phases, field.name)) > 0.0
        ]
        size = f"{self.rows:,} rows x {self.features:,} features" if self.rows else f"{self.features:,} features"
        why = self.reason or self.handover or self.choice
        lines = [
            f"{self.estimator} {self.uid}: {asked}",
            f"{self.algorithm} by {'native code' if self.solver == 'native' else 'Spark'}{': ' if why else ''}{why}",
            ", ".join(part for part in [proof, "" if self.converged or self.solver != "native" else "NOT converged"] if part),
            "; ".join([size, f"{self.rounds[-1].round if self.rounds else 0} rounds", *found]),
            f"{self.seconds:.2f} s: {', '.join(seconds)}",
            *(f"the best of {len(self.search)}: {one}" for one in self.search if one.is_best),
        ]
        return "\n".join(line for line in lines if line)

    def __getstate__(self) -> dict[str, Any]:
        names = [field.name for field in dataclasses.fields(self)]
        return {name: getattr(self, name) for name in [*names, "text", "page"]}

    @functools.cached_property
    def text(self) -> str:
        """The report as plain text: the phases, a summary, and a line for each round; then what tuning has tried."""
        return "\n".join([str(vars(self)["_java"].toText()), *map(str, self._listed)])

    @functools.cached_property
    def page(self) -> str:
        """The report as a page with charts; what tuning has tried is a table of it."""
        page = str(vars(self)["_java"].toHtml())
        if not self._listed:
            return page
        names = list(dict.fromkeys(name for one in self._listed for name in one.params))
        head = [*names, "metric", "deviation over folds", ""]
        lines = [
            [*(str(one.params.get(name, "")) for name in names), f"{one.metric:.6g}", "" if one.deviation is None else f"{one.deviation:.2g}", "best" * one.is_best]
            for one in self._listed
        ]
        row = "<tr>{}</tr>".format
        table = row("".join(f"<th>{html.escape(cell)}</th>" for cell in head)) + "".join(
            row("".join(f"<td>{html.escape(cell)}</td>" for cell in line)) for line in lines
        )
        return page.replace("</header>", f"<h2>The search</h2><table>{table}</table></header>", 1)

    @property
    def _listed(self) -> tuple[Candidate, ...]:
        """What tuning has tried, where the JVM does not know."""
        return self.search and tuple(vars(self)["_tried"])

    @property
    def seconds(self) -> float:
        """Seconds of the whole fit."""
        return self.phases.total

    def to_text(self) -> str:
        """The report as plain text: the phases, a summary, and a line for each round; then what tuning has tried."""
        return self.text

    def to_pandas(self) -> Any:
        """The rounds as a pandas ``DataFrame``, a row each."""
        import pandas  # type: ignore[import-untyped, unused-ignore]

        names = [field.name for field in dataclasses.fields(Round)]
        return pandas.DataFrame([dataclasses.astuple(one) for one in self.rounds], columns=names)

    def write_html(self, path: str | pathlib.Path) -> None:
        """Writes the report as a page with charts, which needs no network. An existing file is replaced."""
        pathlib.Path(path).write_text(self.page, encoding="utf-8")

    def _repr_html_(self) -> str:
        # A frame of its own, so that neither the page's styles nor the notebook's reach the other.
        return (
            f'<iframe sandbox="" srcdoc="{html.escape(self.page, quote=True)}" style="width: 100%; height: 40em; border: 0" '
            f'title="Fit of {html.escape(self.uid, quote=True)}"></iframe>'
        )


@overload
def report(model: OneVsRestModel) -> tuple[Report, ...]: ...


@overload
def report(model: PipelineModel) -> Report | tuple[Report, ...]: ...


@overload
def report(model: Any) -> Report: ...


def report(model: Any) -> Any:
    """The report of a model that was fitted in this session.

    Parameters
    ----------
    model : Model
        A model of pyspark's that an estimator of Dwell has trained, a copy of it, or one of pyspark's own under :func:`dwell.accelerate`; or a
        ``PipelineModel``, ``CrossValidatorModel``, ``TrainValidationSplitModel`` or ``OneVsRestModel`` with such models.

    Returns
    -------
    Report or tuple of Report
        The report. Of several models a tuple: of stages of a pipeline in their order, of ``OneVsRest`` by class. Tuning has the
        report of its best model, with the table of the search.

    Raises
    ------
    LookupError
        If there is none: the model was loaded, another estimator has trained it, or it is no model. In a remote session also if an
        estimator of pyspark's without the switch has trained it, or a hundred fits have ended since.
    dwell.DwellError
        If the session does not have the jar of this package.

    Examples
    --------
    >>> import dwell
    >>> from dwell.ml.regression import LinearRegression
    >>> from pyspark.ml.linalg import Vectors
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()
    >>> data = spark.createDataFrame([(2.0 * x, Vectors.dense(x)) for x in (0.0, 1.0, 2.0)], ["label", "features"])
    >>> told = dwell.report(LinearRegression().fit(data))
    >>> told.rows, told.features, told.converged
    (3, 1, True)
    """
    found = [Report._of(told, search) for one, search in _models(model) if (told := _told(one)) is not None]
    if not found:
        # A remote DataFrame has a column of every name.
        uid = getattr(model, "uid", None)
        raise LookupError(
            f"There is no fit report for {uid if isinstance(uid, str) else type(model).__name__}: only models that Dwell has "
            "trained in this session have one, and their copies, but not loaded ones: write_html, to_text and pickle keep a report."
            + _OF_SERVER * is_remote({})
        )
    return found[0] if len(found) == 1 else tuple(found)


_OF_SERVER = (
    " A server keeps the last 100 of a session, and finds those of estimators from dwell.ml and of pyspark's own under dwell.accelerate()."
)


def _told(model: Any) -> Any:
    """The report of one model, which the JVM or a server has; None if there is none."""
    if is_remote({}):
        return _connect.report(model)
    one: Any = check()._jvm.dwell.report.FitReport.find(model._java_obj)
    return one.get() if one.isDefined() else None


def _models(model: Any) -> list[tuple[Any, tuple[Candidate, ...]]]:
    """The models with one object of the JVM in a model, in their order, each with the search that has chosen it."""
    from pyspark.ml import PipelineModel
    from pyspark.ml.classification import OneVsRestModel
    from pyspark.ml.tuning import CrossValidatorModel, TrainValidationSplitModel
    from pyspark.ml.wrapper import JavaModel

    if isinstance(model, JavaModel):
        return [(model, ())]
    if isinstance(model, CrossValidatorModel):
        search = _search(model, model.avgMetrics, model.stdMetrics)
        return [(one, search) for one, _ in _models(model.bestModel)]
    if isinstance(model, TrainValidationSplitModel):
        search = _search(model, model.validationMetrics, [])
        return [(one, search) for one, _ in _models(model.bestModel)]
    parts: list[Any] = model.stages if isinstance(model, PipelineModel) else model.models if isinstance(model, OneVsRestModel) else []
    return [found for part in parts for found in _models(part)]


def _search(model: Any, metrics: list[float], deviations: list[float]) -> tuple[Candidate, ...]:
    """What a model of tuning says of its maps; nothing if it has no metric for each."""
    maps = model.getEstimatorParamMaps()
    if not maps or len(metrics) != len(maps):
        return ()
    best = metrics.index(max(metrics) if model.getEvaluator().isLargerBetter() else min(metrics))
    stages: dict[str, set[str]] = {}
    for param in (param for each in maps for param in each):
        stages.setdefault(param.name, set()).add(param.parent)
    return tuple(
        Candidate(
            {param.name if len(stages[param.name]) == 1 else f"{param.parent}.{param.name}": value for param, value in each.items()},
            metrics[i],
            deviations[i] if i < len(deviations) else None,
            i == best,
        )
        for i, each in enumerate(maps)
    )


def _fields(facts: dict[str, Any]) -> dict[str, Any]:
    """The fields of a report, from its JSON."""
    if facts["version"] != SCHEMA:
        raise DwellError(f"The report has version {facts['version']}, and this package reads version {SCHEMA}.")
    held = {"data_bytes": facts["held"]["data"], "peak_bytes": facts["held"]["most"]}
    phases = Phases(**_named(dataclasses.fields(Phases), facts["phases"]))
    rounds = tuple(Round(**_named(dataclasses.fields(Round), one)) for one in facts["rounds"])
    others = [field for field in dataclasses.fields(Report) if field.name not in ("phases", "rounds", "search", *held)]
    search = tuple(_candidate(one) for one in facts.get("search", {"maps": []})["maps"])
    return {**_named(others, facts), **held, "phases": phases, "rounds": rounds, "search": search}


def _candidate(tried: dict[str, Any]) -> Candidate:
    metric = math.nan if tried["metric"] is None else tried["metric"]
    own = tuple(tried["seconds"]), tuple(tried["rounds"])
    return Candidate(tried["params"], metric, tried["deviation"], tried["isBest"], *own)


def _named(fields: Iterable[dataclasses.Field[Any]], facts: dict[str, Any]) -> dict[str, Any]:
    """JSON has the names in camel case, and null for NaN and infinity."""
    values = {field: facts[_camel(field.name)] for field in fields}
    return {field.name: math.nan if value is None and field.type == "float" else value for field, value in values.items()}


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)
