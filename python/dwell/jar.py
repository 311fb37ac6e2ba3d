"""Prints the path of the jar, for spark-submit: ``spark-submit --jars $(python -m dwell.jar) application.py``."""

import sys

from dwell._session import DwellError, jar

if __name__ == "__main__":
    try:
        print(jar())
    except DwellError as error:
        sys.exit(str(error))
