"""Dwell trains Spark ML's linear and topic models with native code.

>>> import dwell
>>> from pyspark.sql import SparkSession
>>> spark = dwell.configure(SparkSession.builder).getOrCreate()  # doctest: +SKIP
"""

from dwell._accelerate import accelerate
from dwell._session import DwellError, configure, jar
from dwell._version import VERSION as __version__

__all__ = ["DwellError", "__version__", "accelerate", "configure", "jar"]
