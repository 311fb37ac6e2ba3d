"""pyspark's estimators, trained by native code. The modules have the names of pyspark.ml's."""

import warnings

from dwell._session import is_remote

try:
    import pyspark
except ImportError as error:
    raise ImportError("pyspark is not there: Dwell's estimators are pyspark's. Get it by pip install 'pyspark[ml]'.") from error

#: The versions of Spark that Dwell's tests run on.
_TESTED = ("3.5", "4.0", "4.3")

_found = ".".join(pyspark.__version__.split(".")[:2])
if tuple(map(int, _found.split("."))) < (3, 5):
    raise ImportError(f"pyspark is {pyspark.__version__}, and Dwell needs 3.5 or newer: pip install 'pyspark[ml]>=3.5'.")
# A remote session computes on its server, and pyspark-client has versions of its own.
if _found not in _TESTED and not is_remote({}):
    warnings.warn(
        f"Dwell is tested on Spark {', '.join(_TESTED)}, and not on pyspark {pyspark.__version__}. Compare a fit with Spark's own, and "
        f"install a tested version if they differ: pip install 'pyspark[ml]~={_TESTED[-1]}.0'.",
        stacklevel=2,
    )
