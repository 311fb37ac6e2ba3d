"""The documents that users read, and the code blocks in them: what the tests in packaging and python have in common."""

import pathlib
import re
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOR_USERS = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*.md"))]

# What each kind of block is tested by. A formula is neither code nor a command.
KINDS = {"sh": "tests/packaging/docs_test.py", "scala": "tests/python/docs_test.py", "python": "tests/python/docs_test.py",
         "text": "the test of the block before it, whose output it shows", "math": None}


class Block(NamedTuple):
    document: str
    language: str
    code: str

    @property
    def lines(self):
        return self.code.splitlines()


def text(document):
    return (ROOT / document).read_text(encoding="utf-8")


def blocks(document):
    """The fenced blocks of a document, in their order."""
    return [Block(document, *found) for found in re.findall(r"^```([^\n]*)\n(.*?)^```$", text(document), re.MULTILINE | re.DOTALL)]


def without_blocks(document):
    return re.sub(r"^```.*?^```$", "", text(document), flags=re.MULTILINE | re.DOTALL)


def shape(line):
    """A line of output without what differs from run to run: numbers, identifiers, and the spaces that align them."""
    line = re.sub(r"(?<![0-9A-Za-z])[0-9a-f]{12}(?![0-9A-Za-z])", "#", line)
    line = re.sub(r"-?(?:\d+\.?\d*(?:e[-+]?\d+)?|NaN)", "#", line)
    return " ".join(line.split())


def missing(shown, output):
    """Lines of a `text` block that the output does not have; one that ends with `...` may go on."""
    printed = [shape(line) for line in output.splitlines()]

    def has(line):
        wanted = shape(line)
        return any(one.startswith(wanted[:-3]) if wanted.endswith("...") else one == wanted for one in printed)
    return [line for line in shown.lines if not has(line)]
