"""The jar in a Spark session: where it is, how it gets there, and one sentence for each way of getting it wrong."""

from __future__ import annotations

import os
import pathlib
import re
from typing import TYPE_CHECKING, Any

from dwell._version import VERSION

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_JARS = pathlib.Path(__file__).resolve().parent / "jars"

#: A class of the jar that tells its version.
_LOADER = "dwell.jni.NativeLoader"


class DwellError(RuntimeError):
    """Dwell cannot be used here. The message names the cause and the fix."""


def jar() -> str:
    """The path of the jar for the Spark distribution that Python finds.

    :raises DwellError: if the distribution's Scala is not 2.13, or the package has no jar
    """
    scala = _scala_of_spark()
    if scala is not None:
        _check_scala(scala)
    found = _JARS / f"dwell_2.13-{VERSION}.jar"
    if not found.is_file():
        raise DwellError(
            f"{found} is not there: install the wheel that ./gradlew wheel builds, and not the sources."
        )
    return str(found)


def _check_scala(version: str) -> None:
    if version.split(".")[:2] != ["2", "13"]:
        raise DwellError(
            f"This Spark is built for Scala {version}, and Dwell's jar is for Scala 2.13: use pyspark 4, or a distribution "
            "of Spark 3.5 whose name ends with scala2.13."
        )


def _scala_of_spark() -> str | None:
    """The Scala version of the distribution that pyspark starts; None where its jars cannot be found."""
    home = os.environ.get("SPARK_HOME")
    if home is None:
        try:
            import pyspark
        except ImportError:
            return None
        home = str(pathlib.Path(pyspark.__file__).parent)
    for library in sorted((pathlib.Path(home) / "jars").glob("scala-library-*.jar")):
        found = re.fullmatch(r"scala-library-(\d+\.\d+)\..*\.jar", library.name)
        if found:
            return found.group(1)
    return None


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Adds the jar to a session that does not run yet, beside the jars that are there.

    :param builder: a ``SparkSession.builder``
    :return: the builder
    :raises DwellError: if a session runs already, the builder is for a remote session, or :func:`jar` raises
    """
    from pyspark.sql import SparkSession

    options: dict[str, str] = getattr(builder, "_options", {})
    if "spark.remote" in options or os.environ.get("SPARK_REMOTE") or os.environ.get("SPARK_CONNECT_MODE_ENABLED"):
        raise DwellError(
            "This builder is for a remote session (Spark Connect): its server has to be started with the jar, "
            f"--jars {jar()}, and Dwell's Python classes need a session that is not remote."
        )
    running = SparkSession.getActiveSession()
    if running is not None and not _has_dwell(running):
        raise DwellError(
            "A Spark session runs already, and jars are read when a session starts: call dwell.configure before "
            "getOrCreate, or stop the session first."
        )
    jars = [part for part in options.get("spark.jars", "").split(",") if part]
    own = jar()
    if own not in jars:
        jars.append(own)
    return builder.config("spark.jars", ",".join(jars))


def _has_dwell(session: Any) -> bool:
    try:
        _loader(session._jvm)
    except DwellError:
        return False
    return True


def _loader(jvm: Any) -> Any:
    """The class of the loader in a JVM.

    :raises DwellError: if the JVM does not have the jar
    """
    from py4j.java_gateway import JavaClass  # type: ignore[import-untyped, unused-ignore]

    found = jvm
    for part in _LOADER.split("."):
        found = getattr(found, part)
    if not isinstance(found, JavaClass):
        raise DwellError(
            "This Spark session does not have Dwell's jar: start it with dwell.configure(SparkSession.builder), or with "
            "spark-submit --jars $(python -m dwell.jar)."
        )
    return found


def check() -> Any:
    """Checks that the session of this process has the jar of this package.

    :return: the session's SparkContext
    :raises DwellError: if there is no session, or it has no jar, or one of another version, or another Scala
    """
    from pyspark import SparkContext

    context: Any = SparkContext._active_spark_context
    if context is None:
        raise DwellError(
            "There is no Spark session in this process that is not remote: make one with "
            "dwell.configure(SparkSession.builder).getOrCreate() before the estimator."
        )
    version = _loader(context._jvm).version()
    if version != VERSION:
        raise DwellError(
            f"This Spark session has Dwell's jar of version {version}, and the Python package is of version {VERSION}: "
            "use both of one version."
        )
    _check_scala(context._jvm.scala.util.Properties.versionNumberString())
    return context
