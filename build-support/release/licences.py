#!/usr/bin/env python3
"""Writes THIRD-PARTY: the crates in the native library, and the text of each of their licences.

    licences.py [FILE]
"""

import pathlib
import re
import sys

import crates

HEAD = """\
The native library of Dwell contains code of the Rust standard library (Copyright The Rust Project Developers, MIT OR Apache-2.0)
and of the Rust crates below, each with its licence and with the address of its sources. Parts of faer are ports of algorithms
under MPL-2.0 and BSD-3-Clause, which its texts name. `build-support/release/licences.py` writes this file.

"""
LICENCE_FILE = re.compile(r"(LICEN[CS]E|COPYING|UNLICENSE|NOTICE)", re.IGNORECASE)
# For crates that name this licence and bring no text.
MIT = """\
MIT License

Copyright (c) %s

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files
(the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge,
publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do
so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""


def texts(crate):
    """The texts of the licences that a crate brings, or that of the licence that it names."""
    files = sorted(path for path in pathlib.Path(crate["manifest_path"]).parent.iterdir() if LICENCE_FILE.match(path.name))
    found = [path.read_text("utf-8") for path in files]
    # A file COPYING may be of a part alone.
    if any(path.name.upper().startswith("LICEN") for path in files):
        return found
    if "MIT" not in crates.expression(crate).split(" OR "):
        raise SystemExit("%s brings no text of its licence, %s" % (crate["name"], crates.expression(crate)))
    authors = ", ".join(re.sub(r"\s*<.*>", "", author) for author in crate["authors"])
    return [MIT % (authors or "the authors of %s" % crate["repository"])] + found


def third_party():
    """The text of the file. A licence that several crates have word by word stands there once."""
    theirs, _ = crates.linked()
    refused = ["%s: %s" % (crate["name"], crates.expression(crate)) for crate in theirs if not crates.is_allowed(crates.expression(crate))]
    if refused:
        raise SystemExit("licences that crates.py does not allow: " + ", ".join(refused))
    lines, users = [], {}
    for crate in theirs:
        name = "%s %s" % (crate["name"], crate["version"])
        lines.append("    %s, %s, %s\n" % (name, crates.expression(crate), crate["repository"]))
        for text in texts(crate):
            users.setdefault(" ".join(text.split()), (text, []))[1].append(name)
    parts = ["\n%s\n%s\n\n%s\n" % ("=" * 80, ", ".join(dict.fromkeys(names)), tidy(text)) for text, names in users.values()]
    return HEAD + "".join(lines) + "".join(parts)


def tidy(text):
    """A text without spaces at the ends of its lines."""
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else crates.ROOT / "THIRD-PARTY"
    target.write_text(third_party(), encoding="utf-8")
