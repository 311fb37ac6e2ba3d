#!/usr/bin/env python3
"""Writes the distribution's package descriptions as a TSV file: package, section, installed size in KiB, text.

Usage: packages.py OUT.tsv

Needs a machine with apt (Debian, Ubuntu). Long descriptions are fetched with `apt-get update` where that is allowed,
else the one-line summaries serve. The descriptions carry their packages' licences: use the file, do not pass it on.
Exits with 3 where there is no apt.
"""

import shutil
import subprocess
import sys

ENGLISH = ["-o", "Acquire::Languages=en"]


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, errors="replace").stdout


def stanzas(text: str):
    """Fields of each record of a Debian control file; continuation lines keep their text."""
    fields, key = {}, None
    for line in text.splitlines():
        if not line:
            if fields:
                yield fields
            fields, key = {}, None
        elif line[0] in " \t":
            if key is not None:
                fields[key] += " " + line.strip()
        else:
            key, _, value = line.partition(":")
            fields[key] = value.strip()
    if fields:
        yield fields


def long_descriptions() -> dict[str, str]:
    """Long English descriptions by the MD5 sum that package records name."""
    names = output("apt-get", "indextargets", *ENGLISH, "--format", "$(FILENAME)", "Created-By: Translations")
    found = {}
    for name in names.split():
        try:
            text = output("/usr/lib/apt/apt-helper", "cat-file", name)
        except subprocess.CalledProcessError:
            continue  # a list that is configured but was never fetched
        for record in stanzas(text):
            if "Description-md5" in record and "Description-en" in record:
                found[record["Description-md5"]] = record["Description-en"]
    return found


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    if shutil.which("apt-cache") is None:
        print("packages.py: this machine has no apt", file=sys.stderr)
        return 3
    update = subprocess.run(["apt-get", "update", *ENGLISH], capture_output=True, text=True)
    if update.returncode != 0:
        print("packages.py: apt-get update failed; using the lists that are here", file=sys.stderr)
    long = long_descriptions()
    seen = set()
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        for record in stanzas(output("apt-cache", "dumpavail")):
            package = record.get("Package")
            if not package or package in seen or not record.get("Installed-Size", "").isdigit():
                continue
            seen.add(package)
            short = record.get("Description", record.get("Description-en", ""))
            text = long.get(record.get("Description-md5", ""), short)
            row = [package, record.get("Section", ""), record["Installed-Size"], " ".join(text.split())]
            out.write("\t".join(row) + "\n")
    print(f"{len(seen)} packages, {len(long)} long descriptions")
    return 0 if seen else 3


if __name__ == "__main__":
    sys.exit(main())
