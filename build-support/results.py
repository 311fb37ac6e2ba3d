"""What groups of tests led to: NAME.json in DIRECTORY, which run_group.py writes and total.py reads."""

import json
import os

DID_NOT_RUN = "did not run"


def without(name):
    """The result of a group of which nothing is known, which is a failure."""
    return {"name": name, "passed": 0, "failed": 1, "skipped": 0, "later": 0, "seconds": 0.0, "reasons": [DID_NOT_RUN], "failures": []}


def read(directory, name):
    """The result of a group; one that did not run has failed."""
    path = directory / (name + ".json")
    return json.loads(path.read_text()) if path.exists() else without(name)


def write(directory, result):
    """Whole or not at all: the build reads it before it runs the group again."""
    path = directory / (result["name"] + ".json")
    unfinished = path.with_suffix(".new")
    unfinished.write_text(json.dumps(result) + "\n")
    os.replace(unfinished, path)


def forget(directory, name):
    """An earlier result does not stand for a group that is killed."""
    (directory / (name + ".json")).unlink(missing_ok=True)


def line(result):
    """A group in one line."""
    text = "%-22s %5d ok %4d not ok %7.1f s" % (result["name"], result["passed"], result["failed"], result["seconds"])
    if result.get("warnings"):
        text += ", %d warnings" % result["warnings"]
    if result["skipped"]:
        text += ", %d skipped" % result["skipped"]
    if result["later"]:
        text += ", %d more in checkLong" % result["later"]
    if result.get("missing"):
        text += ", %s: %s" % (DID_NOT_RUN, result["missing"])
    return text
