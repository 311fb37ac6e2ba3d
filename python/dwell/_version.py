"""The version of the package, which is that of the jar in it."""

VERSION = "0.1.0"
