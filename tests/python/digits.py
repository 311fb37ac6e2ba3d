#!/usr/bin/env python3
"""Handwritten digits, for suites that need a dense problem of ten classes: `digits.py FILE` writes them from scikit-learn's copy.

Each line is an image: its digit, and 64 shades from 0 to 16. The images are the test set of Alpaydin and Kaynak, Optical
Recognition of Handwritten Digits (UCI Machine Learning Repository, 1998, CC BY 4.0), and the repository does not contain them.
"""

import pathlib
import sys

from sklearn.datasets import load_digits


def main():
    digits = load_digits()
    lines = (",".join(str(int(v)) for v in (label, *shades)) for label, shades in zip(digits.target, digits.data))
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
