#!/usr/bin/env python3
"""Puts together what is published, and checks it: a dry run.

    release.py DIRECTORY PROJECT WHEELS

PROJECT is a JSON file with group, version, url, developer, spark, key (null: without signatures) and, by version of Scala, the files
of an artifact. WHEELS is the folder with wheel and source distribution. DIRECTORY gets the folders maven and python, the bundle
that is uploaded, and SHA256SUMS. The exit status is 1 if something is missing.
"""

import hashlib
import json
import pathlib
import shutil
import sys

import checks
import maven
import sbom


def main(directory, settings, wheels):
    shutil.rmtree(directory, ignore_errors=True)
    repository = directory / "maven"
    project = {name: settings[name] for name in ("group", "version", "url", "developer")}
    problems = []
    for scala, files in sorted(settings["artifacts"].items()):
        artifact = "dwell_" + scala
        provided = [("org.apache.spark", "spark-mllib_" + scala, settings["spark"])]
        files = {ending: pathlib.Path(file) for ending, file in files.items()}
        files[".pom"] = maven.pom(project, artifact, scala, provided)
        files["-cyclonedx.json"] = sbom.bom(project["group"], artifact, project["version"], provided)
        folder = maven.lay_out(repository, project, artifact, files, settings["key"])
        problems += checks.maven_problems(folder, artifact, project["version"], bool(settings["key"]))
    maven.bundle(repository, directory / ("dwell-%s-bundle.zip" % project["version"]))
    shutil.copytree(wheels, directory / "python")
    problems += checks.python_problems(directory / "python")
    write_sums(directory)
    if problems:
        sys.exit("\n".join(problems))


def write_sums(directory):
    """SHA-256 of each file that is no checksum itself, as `sha256sum --check` reads it."""
    files = sorted(path for path in directory.rglob("*") if path.is_file() and path.suffix[1:] not in maven.CHECKSUMS)
    lines = ["%s  %s\n" % (hashlib.sha256(file.read_bytes()).hexdigest(), file.relative_to(directory).as_posix()) for file in files]
    (directory / "SHA256SUMS").write_text("".join(lines), encoding="ascii")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text("utf-8")), pathlib.Path(sys.argv[3]))
