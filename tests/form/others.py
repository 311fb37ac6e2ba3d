"""Puts the folders on the path whose modules these tests use."""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / name) for name in (".", "house", "packaging", "wheel")]
