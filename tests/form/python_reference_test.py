"""docs/python.md is what the docstrings of the public names make: the reference, and a record of every name and signature.

A name that goes, or a signature that changes, breaks somebody's program: the document shows it in the change that does it. DWELL_WRITE_API=yes
writes it anew.
"""

import dataclasses
import functools
import importlib
import inspect
import os
import pathlib
import re
import unittest

import others  # noqa: F401
import package_test  # noqa: F401  (puts the installed package on the path)
from dwell.ml import _keywords

MODULES = ["dwell", "dwell.ml.classification", "dwell.ml.regression", "dwell.ml.clustering", "dwell.ml.tuning"]
DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"
HEAD = """\
# Python

The public names of the wheel, from its docstrings. [README](../README.md#from-python) shows how to begin, [params](params.md) says what each Param means,
and [the fit report](fit-report.md#json-and-python) what a report has.
"""


def signature(what):
    return str(inspect.signature(what)).replace('"', "").replace("'", "")


def prose(doc):
    """A docstring of numpydoc's as Markdown."""
    text = re.sub(r":(?:class|func|py:attr):`~?([^`]+)`", r"`\1`", inspect.cleandoc(doc or "")).replace("``", "`")
    start, *sections = re.split(r"^(\w+)\n-+\n", text, flags=re.MULTILINE)
    parts = [start.strip()]
    for name, body in zip(sections[::2], sections[1::2]):
        if name == "Notes":
            parts.append(body.strip())
        elif name != "Examples":  # `help` shows them.
            parts.append("\n".join(entry(name, *found) for found in re.findall(r"^(\S.*)\n((?:    .*\n?)+)", body, re.MULTILINE)))
    return "\n\n".join(part for part in parts if part)


def entry(section, head, body):
    """A line of a section."""
    name, _, kind = head.partition(" : ")
    if section == "Returns":
        label = "returns"
    elif section == "Raises":
        label = "raises `%s`" % name
    else:
        label = "`%s`" % name + (" (%s)" % kind.replace("'", "`") if kind else "")
    return "- %s: %s" % (label, inspect.cleandoc(body).replace("\n", "\n  "))


def sentence(doc):
    """The same in a line."""
    return re.sub(r"\s+", " ", prose(doc).replace("\n- returns: ", " Returns: "))


def own(kind):
    """What classes of Dwell's give a class."""
    found = {}
    for base in reversed(kind.__mro__):
        if base.__module__.split(".")[0] == "dwell":
            found.update(vars(base))
    return found


def of_class(kind):
    keywords = getattr(_keywords, kind.__name__ + "Keywords", None)
    if keywords is None and not issubclass(kind, Exception) and not dataclasses.is_dataclass(kind):
        yield "`%s%s`" % (kind.__name__, signature(kind))
    yield prose(kind.__doc__)
    if keywords is not None:
        yield "Keywords: %s." % ", ".join("`%s`" % name for name in keywords.__annotations__)
    described = prose(kind.__doc__)
    for name, value in sorted(own(kind).items()):
        if name.startswith("_") or "`%s`: " % name in described:
            continue
        if inspect.isfunction(value):
            yield "- `%s%s`: %s" % (name, signature(value), sentence(value.__doc__))
        elif isinstance(value, (property, functools.cached_property)):
            yield "- `%s`: %s" % (name, sentence(value.__doc__))
    if dataclasses.is_dataclass(kind):
        yield "Fields: %s." % ", ".join("`%s: %s`" % (field.name, field.type) for field in dataclasses.fields(kind))


def document():
    parts = [HEAD.strip()]
    for module in MODULES:
        parts.append("## `%s`" % module)
        for name in sorted(importlib.import_module(module).__all__):
            value = getattr(importlib.import_module(module), name)
            parts.append("### `%s`" % name)
            if inspect.isclass(value):
                parts.extend(of_class(value))
            elif callable(value):
                parts.extend(["`%s%s`" % (name, signature(value)), prose(value.__doc__)])
            else:
                parts.append("The version of the package and of its jar.")
    return re.sub(r"(\n- [^\n]*)\n\n(?=- )", r"\1\n", re.sub(r"(\n- [^\n]*)\n\n(?=- )", r"\1\n", "\n\n".join(part for part in parts if part))) + "\n"


class ApiTest(unittest.TestCase):
    maxDiff = None

    def test_the_reference_is_that_of_the_docstrings(self):
        found = document()
        if os.environ.get("DWELL_WRITE_API"):
            DOCUMENT.write_text(found, encoding="utf-8")
        self.assertMultiLineEqual(DOCUMENT.read_text(encoding="utf-8"), found)


if __name__ == "__main__":
    unittest.main()
