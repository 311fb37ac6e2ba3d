#!/usr/bin/env python3
"""Makes the wheel of the Python package, with jars in it.

    wheel.py DIRECTORY JAR...

DIRECTORY gets the wheel, and nothing else is in it. Setuptools and wheel have to be installed for this Python.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main(directory, jars):
    shutil.rmtree(directory, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        # The sources stay free of what building leaves behind.
        sources = shutil.copytree(ROOT / "python", pathlib.Path(scratch) / "python", ignore=shutil.ignore_patterns("__pycache__", "*.jar"))
        shutil.copy(ROOT / "LICENSE", sources)
        for jar in jars:
            shutil.copy(jar, sources / "dwell" / "jars")
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation"]
        subprocess.run(pip + ["--wheel-dir", str(directory), str(sources)], check=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    directory, *jars = (pathlib.Path(path).resolve() for path in sys.argv[1:])
    main(directory, jars)
