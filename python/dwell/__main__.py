"""From the command line.

``python -m dwell script.py ARGS`` and ``python -m dwell -m module ARGS`` run a program that knows pyspark alone with native training.
``python -m dwell --jar`` prints the path of the jar, for ``spark-submit --jars $(python -m dwell --jar) application.py``.
"""

import os
import runpy
import sys

from typing import Any

from dwell import DwellError, accelerate, jar
from dwell._session import add_jar, is_remote


def main() -> None:
    arguments = sys.argv[1:]
    is_module = arguments[:1] == ["-m"]
    arguments = arguments[1:] if is_module else arguments
    if not arguments:
        sys.exit(__doc__)
    try:
        if arguments == ["--jar"]:
            print(jar())
            return
        # For programs that make a context without a builder.
        if not is_remote({}):
            add_jar({})
    except DwellError as error:
        sys.exit(str(error))
    _configure_builders()
    accelerate()
    sys.argv = arguments
    if is_module:
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")


def _configure_builders() -> None:
    """Lets every builder keep the jar beside its own."""
    from pyspark.sql import SparkSession

    builders: Any = SparkSession.Builder
    stock = builders.getOrCreate

    def getOrCreate(self: Any) -> Any:
        if not is_remote(self._options):
            add_jar(self._options)
        return stock(self)

    builders.getOrCreate = getOrCreate


if __name__ == "__main__":
    main()
