"""Spark ML's estimators, trained by native code. The modules have the names of pyspark.ml's."""
