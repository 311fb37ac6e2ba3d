"""pyspark's estimators, trained by native code. The modules have the names of pyspark.ml's."""

try:
    import pyspark
except ImportError as error:
    raise ImportError("pyspark is not there: Dwell's estimators are pyspark's. Get it by pip install 'pyspark[ml]'.") from error

if tuple(int(part) for part in pyspark.__version__.split(".")[:2]) < (3, 5):
    raise ImportError(f"pyspark is {pyspark.__version__}, and Dwell needs 3.5 or newer: pip install 'pyspark[ml]>=3.5'.")
