"""A line for each fit that runs: rounds, gap, and the seconds that are left."""

from __future__ import annotations

import json
import math
import sys
import threading
import time
from types import TracebackType
from typing import Any, Callable, TextIO

from dwell import _connect
from dwell._session import check, is_remote

#: Seconds between two looks at the JVM, at a server, and between two lines where a line cannot be written over.
_EVERY, _EVERY_REMOTE, _LINES = 0.2, 1.0, 10.0

#: What a round of a fit, and a fit of a search, is called.
_UNIT = {"round": "round {round} of at most {maxRounds}", "fit": "fit {round} of {maxRounds}"}

#: Seconds that the end waits for fits whose events are still on their way.
_PATIENCE = 2.0


class progress:
    """Shows the fits inside of ``with dwell.progress():``, by tqdm where it is installed and as text elsewhere.

    Parameters
    ----------
    file : TextIO, optional
        Where the text goes, instead of standard error; tqdm is not used then.

    Examples
    --------
    >>> import io
    >>> import dwell
    >>> from dwell.ml.regression import LinearRegression
    >>> from pyspark.ml.linalg import Vectors
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()
    >>> data = spark.createDataFrame([(2.0 * x, Vectors.dense(x)) for x in (0.0, 1.0, 2.0)], ["label", "features"])
    >>> shown = io.StringIO()
    >>> with dwell.progress(shown):
    ...     model = LinearRegression().fit(data)
    >>> model.uid in shown.getvalue()
    True
    """

    def __init__(self, file: TextIO | None = None):
        self._file = file
        self._shown: list[_Line] = []
        self._over = threading.Event()

    def __enter__(self) -> progress:
        self._ask, self._leave, self._every = _of_server() if is_remote({}) else _of_jvm()
        self._thread = threading.Thread(target=self._watch, name="dwell-progress", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._leave()

    def _watch(self) -> None:
        while not self._over.wait(self._every):
            self._look()
        patience = time.monotonic() + _PATIENCE
        self._look()
        while self._shown and time.monotonic() < patience:
            time.sleep(self._every)
            self._look()

    def _look(self) -> None:
        for place, fit in enumerate(json.loads(self._ask())):
            if place == len(self._shown):
                self._shown.append(_Text(self._file) if self._file is not None else _line())
            self._shown[place].show(fit)
        self._shown = [line for line in self._shown if not line.ended]


def _of_jvm() -> tuple[Callable[[], str], Callable[[], None], float]:
    """What tells of the fits since the last call, what ends that, and the seconds between two calls."""
    context = check()
    scala, listener = context._jsc.sc(), context._jvm.dwell.report.FitProgress()
    scala.addSparkListener(listener)
    return listener.toJson, lambda: scala.removeSparkListener(listener), _EVERY


def _of_server() -> tuple[Callable[[], str], Callable[[], None], float]:
    """The same of a remote session. Its server follows the fits from the first call on, until nobody calls for a minute."""
    session = _connect.active()
    _connect.check(session)
    _connect.progress(session)
    return lambda: _connect.progress(session), lambda: None, _EVERY_REMOTE


def _line() -> _Line:
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        return _Text(sys.stderr)
    return _Bar(tqdm)


class _Line:
    """The line of a fit."""

    def __init__(self) -> None:
        self.ended = False
        self._seen: list[tuple[float, float]] = []
        self._first: float | None = None

    def show(self, fit: dict[str, Any]) -> None:
        """Shows a fit as ``FitProgress.toJson`` has it."""
        gap = fit["relativeGap"]
        if gap and fit["seconds"] > 0.0 and (not self._seen or fit["seconds"] > self._seen[-1][0]):
            self._seen.append((fit["seconds"], gap))
        self.ended = fit["ended"]
        text = f"{fit['uid']}: {_UNIT[fit['unit']].format(**fit)}"
        if gap is not None:
            text += f", gap {gap:.1e}" + (f" of {fit['tolerance']:.0e}" if fit["tolerance"] > 0.0 else "")
        text += f", {fit['seconds']:.1f} s"
        rest = left(fit, self._seen)
        if not self.ended and rest is not None:
            text += f", about {rest:.0f} s left"
        self._write(text, 1.0 if self.ended else done(fit["seconds"], rest))

    def _write(self, text: str, part: float) -> None:
        raise NotImplementedError


def left(fit: dict[str, Any], seen: list[tuple[float, float]]) -> float | None:
    """Seconds until ``maxIter`` rounds are done or, if that comes first, until the gap is at ``tol``, as it has fallen lately.

    Parameters
    ----------
    seen
        Seconds and gap of the rounds so far.
    """
    if fit["round"] == 0:
        return None
    rest = float((fit["maxRounds"] - fit["round"]) * fit["seconds"] / fit["round"])
    if len(seen) > 2 and fit["tolerance"] > 0.0:
        (before, wide), (now, narrow) = seen[len(seen) // 2 - 1], seen[-1]
        if narrow < wide:
            speed = math.log(wide / narrow) / (now - before)
            rest = min(rest, max(0.0, math.log(narrow / fit["tolerance"])) / speed)
    return rest


def done(seconds: float, rest: float | None) -> float:
    """The part of a fit that is done, 0 to 1."""
    return 0.0 if rest is None or seconds + rest <= 0.0 else seconds / (seconds + rest)


class _Text(_Line):
    """Text: on a terminal one line that is written over, elsewhere a line now and then."""

    def __init__(self, file: TextIO):
        super().__init__()
        self._file = file
        self._written = time.monotonic()

    def _write(self, text: str, part: float) -> None:
        if self._file.isatty():
            self._file.write(f"\r\x1b[K{text}" + ("\n" if self.ended else ""))
        elif self.ended or time.monotonic() - self._written > _LINES:
            self._file.write(f"{text}\n")
            self._written = time.monotonic()
        self._file.flush()


class _Bar(_Line):
    """A bar of tqdm's: a widget in a notebook, text in a terminal."""

    def __init__(self, tqdm: Any):
        super().__init__()
        self._bar = tqdm(total=1.0, bar_format="{desc} {bar}", leave=True)

    def _write(self, text: str, part: float) -> None:
        self._bar.set_description_str(text, refresh=False)
        self._bar.n = part
        self._bar.refresh()
        if self.ended:
            self._bar.close()
