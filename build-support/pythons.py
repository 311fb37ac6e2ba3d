#!/usr/bin/env python3
"""Run the tests of a folder with another Python.

    pythons.py INTERPRETER DIRECTORY REQUIREMENTS TESTS

DIRECTORY is a virtual environment of INTERPRETER with what REQUIREMENTS names, made if it is not there.
"""

import os
import pathlib
import subprocess
import sys


def main(interpreter, directory, requirements, tests):
    python = pathlib.Path(directory).resolve() / "bin" / "python"
    ready = pathlib.Path(directory) / "ready"
    wanted = pathlib.Path(requirements).read_text("utf-8")
    if not ready.is_file() or ready.read_text("utf-8") != wanted:
        subprocess.run([interpreter, "-m", "venv", "--clear", directory], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", requirements], check=True)
        ready.write_text(wanted, "utf-8")
    environment = {**os.environ, "PYSPARK_PYTHON": str(python)}
    command = [str(python), "-m", "unittest", "discover", "-v", "-s", tests, "-p", "*_test.py"]
    return subprocess.run(command, env=environment).returncode


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
