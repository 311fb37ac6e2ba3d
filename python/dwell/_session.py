"""The jar in a Spark session: where it is, how it gets there, and one sentence for each way of getting it wrong."""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import shlex
import sys
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

    Raises
    ------
    DwellError
        If the package has no jar for the distribution's Scala.
    """
    return _jar_for(_scala_of_spark() or _SCALAS[0])


#: The versions of Scala that the package has jars for; the newest Spark's first.
_SCALAS = ["2.13", "2.12"]


def _jar_for(version: str) -> str:
    scala = ".".join(version.split(".")[:2])
    if scala not in _SCALAS:
        raise DwellError(
            f"This Spark is built for Scala {version}, and Dwell's jars are for Scala {' and '.join(_SCALAS)}: use Spark 3.5 or 4."
        )
    found = _JARS / f"dwell_{scala}-{VERSION}.jar"
    if not found.is_file():
        raise DwellError(
            f"{found} is not there: install the wheel that ./gradlew wheel builds, and not the sources."
        )
    return str(found)


def _check_java(version: str) -> None:
    # Before Java 9 it was 1.8.
    if version.startswith("1."):
        raise DwellError(f"This Spark runs on Java {version[2:]}, and Dwell needs Java 11 or newer: set JAVA_HOME to one.")


def _scala_of_spark() -> str | None:
    """The Scala version of the distribution that pyspark starts; None where its jars cannot be found."""
    home = _spark_home()
    if home is None:
        return None
    for library in sorted((home / "jars").glob("scala-library-*.jar")):
        found = re.fullmatch(r"scala-library-(\d+\.\d+)\..*\.jar", library.name)
        if found:
            return found.group(1)
    return None


def _spark_home() -> pathlib.Path | None:
    """The distribution that pyspark starts; None where there is no pyspark."""
    home = os.environ.get("SPARK_HOME")
    if home is not None:
        return pathlib.Path(home)
    try:
        import pyspark
    except ImportError:
        return None
    return pathlib.Path(pyspark.__file__).parent


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Adds the jar to a session that does not run yet, beside the jars that the builder, ``spark-defaults.conf`` and
    ``PYSPARK_SUBMIT_ARGS`` name.

    While ``getOrCreate`` starts the JVM, the jars are in ``PYSPARK_SUBMIT_ARGS``, and the builder has no ``spark.jars`` afterwards.

    Parameters
    ----------
    builder : SparkSession.Builder
        A ``SparkSession.builder``.

    Returns
    -------
    SparkSession.Builder
        The builder.

    Raises
    ------
    DwellError
        If a session runs already, the builder is for a remote session, or :func:`jar` raises.
    """
    from pyspark.sql import SparkSession

    options: dict[str, str] = getattr(builder, "_options", {})
    if is_remote(options):
        raise DwellError(
            "This builder is for a remote session (Spark Connect), and there is nothing to configure: its server has to be started "
            f"with the jar, --jars {jar()}."
        )
    running = SparkSession.getActiveSession()
    if running is not None and not _has_dwell(running):
        raise DwellError(
            "A Spark session runs already, and a builder's jars are read when a session starts: call dwell.attach() for "
            "the session that runs."
        )
    jar()
    one: Any = builder
    stock = one.getOrCreate

    def getOrCreate() -> Any:
        # Programs that this one starts do not inherit the arguments.
        before = os.environ.get("PYSPARK_SUBMIT_ARGS")
        add_jar(options)
        try:
            return stock()
        finally:
            if before is None:
                os.environ.pop("PYSPARK_SUBMIT_ARGS", None)
            else:
                os.environ["PYSPARK_SUBMIT_ARGS"] = before

    one.getOrCreate = getOrCreate
    return builder


def attach() -> None:
    """Adds the jar to the session that runs, for the driver and for all executors, also those that come later. Prints a line if it does.

    A session that has the jar stays as it is. The server of a remote session (Spark Connect) has to have it: nothing is added there.

    Raises
    ------
    DwellError
        If there is no session, the server of a remote one does not have the jar, the session runs on Java 8, the driver's class loader
        takes no jars, the session has a jar of another version or for another Scala, or :func:`jar` raises.

    Examples
    --------
    >>> import dwell
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()
    >>> dwell.attach()
    """
    if is_remote({}):
        from dwell import _connect

        _connect.check(_connect.active())
        return
    from pyspark import SparkContext

    context: Any = SparkContext._active_spark_context
    if context is not None:
        _check_java(context._jvm.java.lang.System.getProperty("java.specification.version"))
        is_new = not _has_dwell(context)
        # The JVM of a session that has stopped keeps its classes, and the executors of the next one have none.
        if is_new or context._jvm.java.lang.System.getProperty(_ATTACHED) is not None:
            own = pathlib.Path(_jar_for(context._jvm.scala.util.Properties.versionNumberString()))
            if is_new:
                _add_to_driver(context._jvm, own)
            context._jvm.java.lang.System.setProperty(_ATTACHED, "true")
            java = context._jsc.sc()
            if not any(url.endswith("/" + own.name) for url in _strings(java.listJars())):
                java.addJar(own.as_uri())
                say(f"{own.name} is added to the session {context.applicationId}, its driver and its executors")
    check()


#: Set in a JVM whose driver got the jar after it had started.
_ATTACHED = "dwell.attached"


def _strings(sequence: Any) -> list[str]:
    return [sequence.apply(index) for index in range(sequence.size())]


def _add_to_driver(jvm: Any, file: pathlib.Path) -> None:
    """Adds a jar to the class loader of a driver that runs.

    Raises
    ------
    DwellError
        If the class loader takes no jars.
    """
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    one = loader
    while one is not None and not _takes_jars(one):
        one = one.getParent()
    if one is None:
        raise DwellError(
            f"No jar can be added to this Spark session while it runs: its class loader is a {loader.getClass().getName()}. "
            f"Name the jar where the session is set up, in spark.jars or among the libraries of the cluster: {file}"
        )
    one.addURL(jvm.java.net.URL(file.as_uri()))


def _takes_jars(loader: Any) -> bool:
    """Whether a class loader is one of Spark's, which its drivers and executors have."""
    kind = loader.getClass()
    while kind is not None and kind.getName() != "org.apache.spark.util.MutableURLClassLoader":
        kind = kind.getSuperclass()
    return kind is not None


def say(text: str) -> None:
    """Prints a line for the user, where notebooks show it and programs do not read it."""
    print(f"dwell: {text}", file=sys.stderr)


def is_remote(options: dict[str, str]) -> bool:
    """Whether a builder makes a session of Spark Connect. With pyspark-client alone every one does."""
    from pyspark.sql import utils

    return "spark.remote" in options or bool(os.environ.get("SPARK_REMOTE")) or utils.is_remote()


def add_jar(options: dict[str, str]) -> None:
    """Adds the jar to those that pyspark starts its JVM with.

    Parameters
    ----------
    options : dict of str to str
        Of the builder, if there is one; loses its jars to the arguments of spark-submit.

    Raises
    ------
    DwellError
        If :func:`jar` raises.
    """
    from pyspark import SparkContext

    own, named = jar(), options.get("spark.jars", "")
    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        # The JVM runs, and has its jars unless the builder names others.
        if named:
            options["spark.jars"] = _joined(named, own)
        return
    # With an option of the builder's, executors would not get what spark-submit finds, packages among them.
    options.pop("spark.jars", None)
    reader = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    reader.add_argument("--jars")
    given, others = reader.parse_known_args(shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell")))
    submitted = given.jars or _configured(others, with_defaults=not named)
    os.environ["PYSPARK_SUBMIT_ARGS"] = shlex.join(["--jars", _joined(submitted, named, own), *others])


def _configured(arguments: list[str], with_defaults: bool) -> str:
    """The jars that arguments of spark-submit configure or, if they do not, its file of properties."""
    reader = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    reader.add_argument("--conf", "-c", action="append", default=[])
    reader.add_argument("--properties-file")
    given, _ = reader.parse_known_args(arguments)
    for pair in reversed(given.conf):
        name, _, value = pair.partition("=")
        if name == "spark.jars":
            return str(value)
    home = _spark_home()
    if not with_defaults or home is None:
        return ""
    directory = pathlib.Path(os.environ.get("SPARK_CONF_DIR") or home / "conf")
    file = pathlib.Path(given.properties_file or directory / "spark-defaults.conf")
    # As java.util.Properties: a line goes on after a backslash, and the last one of a name counts.
    text = re.sub(r"\\\r?\n[ \t]*", "", file.read_text("utf-8")) if file.is_file() else ""
    found = re.findall(r"^[ \t]*spark\.jars(?:[ \t]*[=:][ \t]*|[ \t]+)(.*?)[ \t\r]*$", text, re.MULTILINE)
    return re.sub(r"\\(.)", r"\1", found[-1]) if found else ""


def _joined(*lists: str) -> str:
    """Lists of jars as one, each jar once."""
    return ",".join(dict.fromkeys(part.strip() for jars in lists for part in jars.split(",") if part.strip()))


def _has_dwell(session: Any) -> bool:
    try:
        _loader(session._jvm)
    except DwellError:
        return False
    return True


def _loader(jvm: Any) -> Any:
    """The class of the loader in a JVM.

    Raises
    ------
    DwellError
        If the JVM does not have the jar.
    """
    from py4j.java_gateway import JavaClass  # type: ignore[import-untyped, unused-ignore]

    found = jvm
    for part in _LOADER.split("."):
        found = getattr(found, part)
    if not isinstance(found, JavaClass):
        raise DwellError(
            "This Spark session does not have Dwell's jar: call dwell.attach(), or start the session with "
            "dwell.configure(SparkSession.builder) or spark-submit --jars $(python -m dwell --jar)."
        )
    return found


def check() -> Any:
    """Checks that the session of this process has the jar of this package.

    Returns
    -------
    SparkContext
        The session's SparkContext.

    Raises
    ------
    DwellError
        If there is no session, or it has no jar, or one of another version or for another Scala, or its Java is 8.
    """
    from pyspark import SparkContext

    context: Any = SparkContext._active_spark_context
    if context is None:
        raise DwellError(
            "There is no Spark session in this process that is not remote: make one with "
            "dwell.configure(SparkSession.builder).getOrCreate() before the estimator."
        )
    _check_java(context._jvm.java.lang.System.getProperty("java.specification.version"))
    version = _loader(context._jvm).version()
    if version != VERSION:
        raise DwellError(
            f"This Spark session has Dwell's jar of version {version}, and the Python package is of version {VERSION}: "
            "use both of one version."
        )
    own, scala = str(_loader(context._jvm).scala()), str(context._jvm.scala.util.Properties.versionNumberString())
    if not scala.startswith(own + "."):
        raise DwellError(
            f"This Spark session has Dwell's jar for Scala {own}, and its Spark is built for Scala {scala}: use {_jar_for(scala)}."
        )
    return context
