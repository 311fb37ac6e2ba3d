#!/usr/bin/env python3
"""Print the warnings that the compiler has of the Scala modules.

    lint.py FILE...

Each FILE holds the warnings of a module. The exit status is 1 if there is one.
"""

import pathlib
import sys


def main(files):
    warnings = [line for file in files for line in pathlib.Path(file).read_text("utf-8").splitlines()]
    print("\n".join(warnings + ["%d lines of warnings in %d modules" % (len(warnings), len(files))]))
    return 1 if warnings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
