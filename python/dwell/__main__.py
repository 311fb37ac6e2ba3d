"""Runs a program that knows pyspark alone with native training: ``python -m dwell script.py ARGS``, ``python -m dwell -m module ARGS``."""

import os
import runpy
import sys

from dwell import DwellError, accelerate, jar


def main() -> None:
    arguments = sys.argv[1:]
    is_module = arguments[:1] == ["-m"]
    arguments = arguments[1:] if is_module else arguments
    if not arguments:
        sys.exit(__doc__)
    try:
        own = jar()
    except DwellError as error:
        sys.exit(str(error))
    # pyspark starts its JVM with these.
    submit = os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell")
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--conf spark.jars={own} {submit}"
    accelerate()
    sys.argv = arguments
    if is_module:
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
