#!/usr/bin/env python3
"""Make a Spark distribution of one from pip, with other jars: pip has Spark 3.5 for Scala 2.12 only.

    with_jars.py PYSPARK DIRECTORY JAR...

DIRECTORY gets what lies beside PYSPARK, such as py4j, and PYSPARK with the JARs in place of its own, all of it as links.
"""

import pathlib
import shutil
import sys


def main(pyspark, directory, jars):
    shutil.rmtree(directory, ignore_errors=True)
    (directory / "pyspark" / "jars").mkdir(parents=True)
    for target, parts in ("", pyspark.parent.iterdir()), ("pyspark", pyspark.iterdir()), ("pyspark/jars", jars):
        for part in parts:
            link = directory / target / part.name
            if not link.exists():
                link.symlink_to(part)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).absolute(), [pathlib.Path(jar).resolve() for jar in sys.argv[3:]])
