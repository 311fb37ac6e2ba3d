"""The documents that users read, and the code blocks in them, for the tests in packaging and python."""

import pathlib
import re
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOR_USERS = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*.md"))]

# The test of each kind of block. A formula is neither code nor a command.
KINDS = {"sh": "tests/packaging/docs_test.py", "scala": "tests/python/docs_test.py", "python": "tests/python/docs_test.py and tests/connect/docs_test.py",
         "text": "the test of the block before it, whose output it shows", "math": None}


class Block(NamedTuple):
    """A fenced block of a document."""

    document: str
    language: str
    code: str

    @property
    def lines(self):
        return self.code.splitlines()


def text(document):
    """The whole text of a document."""
    return (ROOT / document).read_text(encoding="utf-8")


def blocks(document):
    """The fenced blocks of a document, in order."""
    return [Block(document, *found) for found in re.findall(r"^```([^\n]*)\n(.*?)^```$", text(document), re.MULTILINE | re.DOTALL)]


def without_blocks(document):
    """The text of a document without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", text(document), flags=re.MULTILINE | re.DOTALL)


def shape(line):
    """A line of output without the parts that differ from run to run: numbers, identifiers, and the spaces that align them."""
    line = re.sub(r"(?<![0-9A-Za-z])[0-9a-f]{12}(?![0-9A-Za-z])", "#", line)
    line = re.sub(r"-?(?:\d+\.?\d*(?:e[-+]?\d+)?|NaN)", "#", line)
    return " ".join(line.split())


def missing(shown, output):
    """Lines of a `text` block that the output lacks; a line that ends with `...` matches longer ones."""
    printed = [shape(line) for line in output.splitlines()]

    def has(line):
        wanted = shape(line)
        return any(one.startswith(wanted[:-3]) if wanted.endswith("...") else one == wanted for one in printed)
    return [line for line in shown.lines if not has(line)]


def unshown(shown, output):
    """Lines of output, from the first to the last that a `text` block shows, which the block lacks."""
    wanted = [shape(line) for line in shown.lines]
    printed = output.splitlines()
    places = [i for i, line in enumerate(printed) if shape(line) in wanted]
    return [line for line in printed[places[0]:places[-1]] if shape(line) not in wanted] if places else []
