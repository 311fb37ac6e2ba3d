"""Dwell trains Spark ML's linear and topic models with native code.

>>> import dwell
>>> from pyspark.sql import SparkSession
>>> spark = dwell.configure(SparkSession.builder).getOrCreate()  # doctest: +SKIP
"""

from dwell._accelerate import accelerate
from dwell._progress import progress
from dwell._report import Candidate, Phases, Report, Round, report
from dwell._session import DwellError, attach, configure, jar
from dwell._version import VERSION as __version__

__all__ = [
    "Candidate",
    "DwellError",
    "Phases",
    "Report",
    "Round",
    "__version__",
    "accelerate",
    "attach",
    "configure",
    "jar",
    "progress",
    "report",
]
