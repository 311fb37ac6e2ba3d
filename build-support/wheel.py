#!/usr/bin/env python3
"""Makes wheel and source distribution of the Python package, with jars in them.

    wheel.py DIRECTORY JAR...

DIRECTORY gets both, and nothing else is in it. They are the same, to the last bit, for the same sources and jars. Setuptools and
wheel have to be installed for this Python.
"""

import gzip
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# 1980-02-01, the time that all entries have: as in the jars. Zip files know no earlier year.
TIME = 318211200
BUILD = "from setuptools import build_meta; build_meta.build_wheel({0!r}); build_meta.build_sdist({0!r})"


def main(directory, jars):
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        # The sources stay free of what building leaves behind.
        sources = shutil.copytree(ROOT / "python", pathlib.Path(scratch) / "python", ignore=shutil.ignore_patterns("__pycache__", "*.jar"))
        for name in ("LICENSE", "NOTICE", "THIRD-PARTY"):
            shutil.copy(ROOT / name, sources)
        for jar in jars:
            shutil.copy(jar, sources / "dwell" / "jars")
        # Modes of files are a part of both, and depend on who checked the sources out.
        for path in sources.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(TIME)}
        subprocess.run([sys.executable, "-c", BUILD.format(str(directory))], cwd=sources, env=environment, stdout=subprocess.DEVNULL, check=True)
    for archive in directory.glob("*.tar.gz"):
        without_traces(archive)


def without_traces(archive):
    """Writes a source distribution anew, without owners and times of building, and in the order of names."""
    content = io.BytesIO()
    with tarfile.open(archive) as found, tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as written:
        for entry in sorted(found.getmembers(), key=lambda member: member.name):
            data = found.extractfile(entry) if entry.isfile() else None
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname, entry.pax_headers = TIME, 0, 0, "", "", {}
            written.addfile(entry, data)
    archive.write_bytes(gzip.compress(content.getvalue(), mtime=TIME))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    directory, *jars = (pathlib.Path(path).resolve() for path in sys.argv[1:])
    main(directory, jars)
