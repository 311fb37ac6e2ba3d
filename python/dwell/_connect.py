"""Sessions of Spark Connect: whether the server has the jar, and what it tells of its fits.

The server trains. A client knows no object of its JVM, so it reads data sources of the jar, which tell a session of its own fits alone.
"""

from __future__ import annotations

import dataclasses
import uuid
from typing import Any, Callable

from dwell._session import DwellError, jar
from dwell._version import VERSION

#: Sessions whose server has the jar.
_checked: set[str] = set()


def active() -> Any:
    """The remote session of this thread or process.

    Raises
    ------
    dwell.DwellError
        If there is none.
    """
    from pyspark.sql import SparkSession

    found = SparkSession.getActiveSession()
    if found is None:
        raise DwellError(
            "There is no Spark session: connect to a server that has Dwell's jar with SparkSession.builder.remote(url).getOrCreate()."
        )
    return found


def check(session: Any) -> None:
    """Checks, once a session, that the server has the jar of this package.

    Raises
    ------
    dwell.DwellError
        If the server has no jar, or one of another version.
    """
    from pyspark.errors import PySparkException

    if session.session_id in _checked:
        return
    try:
        version = _source(session, "Reports").schema["json"].metadata.get("dwell")
    except PySparkException as error:
        if error.getCondition() != "DATA_SOURCE_NOT_FOUND":
            raise
        raise DwellError(
            f"The server of this session (Spark Connect) does not have Dwell's jar: it has to be started with --jars {jar()}."
        ) from error
    if version != VERSION:
        raise DwellError(
            f"The server of this session (Spark Connect) has Dwell's jar of version {version}, and the Python package is of version "
            f"{VERSION}: use both of one version."
        )
    _checked.add(session.session_id)


def fitted(fit: Callable[[Any], Any], dataset: Any) -> Any:
    """The model of a fit on the server, which remembers the fit's tag: the server keeps the report under it."""
    session, tag = dataset.sparkSession, f"dwell-{uuid.uuid4().hex}"
    check(session)
    session.addTag(tag)
    try:
        model = fit(dataset)
    finally:
        session.removeTag(tag)
    model._dwell_fit = session, tag
    return model


@dataclasses.dataclass(frozen=True)
class Sent:
    """A report as the server has sent it, with the methods of the JVM's."""

    json: str
    text: str
    page: str

    def toJson(self) -> str:
        return self.json

    def toText(self) -> str:
        return self.text

    def toHtml(self) -> str:
        return self.page


def report(model: Any) -> Sent | None:
    """The report of a model; None if it was not fitted here, or the server has more recent ones of too many other fits."""
    if not hasattr(model, "_dwell_fit"):
        return None
    session, tag = model._dwell_fit
    rows = _source(session, "Reports", fit=tag).select("json", "text", "page").collect()
    return Sent(*rows[0]) if rows else None


def progress(session: Any) -> str:
    """The fits of a session since the last call, as ``FitProgress.toJson`` of the JVM has them."""
    return str(_source(session, "Progress").first()[0])


def _source(session: Any, name: str, **options: str) -> Any:
    return session.read.format(f"dwell.session.{name}").options(**options).load()
