"""Every golden file is what the script beside it writes."""

import json
import math
import pathlib
import unittest

import lda
import network
import primal
import sgd
import special
import topics

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = (lda, network, primal, sgd, special, topics)

# The tolerance of the suites. The machine's exp and log, and Python's sum(), decide the last bits; numbers that must match to the
# last bit are text.
TOLERANCE = 1e-12


def differences(found, expected, at=""):
    """The places in which two JSON values differ."""
    if type(found) is not type(expected):
        return [at]
    if isinstance(expected, dict):
        if found.keys() != expected.keys():
            return [at]
        return [place for key in expected for place in differences(found[key], expected[key], f"{at}/{key}")]
    if isinstance(expected, list):
        if len(found) != len(expected):
            return [at]
        return [place for k, (a, b) in enumerate(zip(found, expected)) for place in differences(a, b, f"{at}/{k}")]
    same = math.isclose(found, expected, rel_tol=TOLERANCE, abs_tol=TOLERANCE) if isinstance(expected, float) else found == expected
    return [] if same else [at]


class Files(unittest.TestCase):
    """The files against their scripts."""

    def test_contents(self):
        for script in SCRIPTS:
            for name, content in script.contents().items():
                with self.subTest(name):
                    file = json.loads((HERE / f"{name}.json").read_text())
                    self.assertEqual([], differences(file, json.loads(json.dumps(content))))

    def test_every_file_has_a_script(self):
        self.assertEqual({path.stem for path in HERE.glob("*.json")}, {name for script in SCRIPTS for name in script.contents()})


class Comparison(unittest.TestCase):
    """The comparison itself."""

    def test_what_is_not_the_same_is_found(self):
        value = {"bits": "3ff8", "list": [1.0, -0.25], "none": None, "number": 3, "yes": True}
        self.assertEqual([], differences(value, {**value, "list": [1.0, -0.25 * (1 + TOLERANCE / 4)]}))
        for key, other in [("bits", "3ff9"), ("list", [1.0]), ("none", 0.0), ("number", 4), ("number", 3.0), ("yes", False)]:
            self.assertEqual([f"/{key}"], differences({**value, key: other}, value))
        self.assertEqual(["/list/1"], differences({**value, "list": [1.0, -0.25 - 1e-11]}, value))
        self.assertEqual([""], differences({"bits": "3ff8"}, value))


if __name__ == "__main__":
    unittest.main()
