"""The table of versions: what ran, newest first, and nothing that failed."""

import json
import pathlib
import tempfile
import unittest

import scripts  # noqa: F401  puts build-support on the path

import versions

BEFORE = "# Limits\n\n" + versions.HEADING + "| 3.5.6 | 2.12 | 17 | 1 | `gone` 1 |\n\nAfter it.\n"


class Versions(unittest.TestCase):
    def write(self, *ran):
        with tempfile.TemporaryDirectory() as place:
            directory = pathlib.Path(place)
            for name, passed, failed, platform in ran:
                result = {"name": name, "passed": passed, "failed": failed, "platform": platform}
                (directory / (name + ".json")).write_text(json.dumps(result))
            document = directory / "limits.md"
            document.write_text(BEFORE)
            said = None
            try:
                versions.main(directory, document)
            except SystemExit as end:
                said = str(end)
            return document.read_text(), said

    def test_rows_are_platforms_newest_first(self):
        text, said = self.write(
            ("scalaTest", 9, 0, "java=17 spark=4.10.0 scala=2.13"), ("wheelTest", 2, 0, "java=17 spark=4.10.0 scala=2.13"),
            ("modesTest", 3, 0, "java=17 spark=4.9.1 scala=2.13"), ("rustTest", 5, 0, ""))
        self.assertIsNone(said)
        rows = "| 4.10.0 | 2.13 | 17 | 11 | `scalaTest` 9, `wheelTest` 2 |\n| 4.9.1 | 2.13 | 17 | 3 | `modesTest` 3 |\n"
        self.assertEqual("# Limits\n\n" + versions.HEADING + rows + "\nAfter it.\n", text)

    def test_what_failed_is_named_and_not_in_the_table(self):
        text, said = self.write(("scalaTest", 9, 1, "java=17 spark=4.0.5 scala=2.13"), ("modesTest", 3, 0, "java=17 spark=4.0.5 scala=2.13"))
        self.assertIn("scalaTest", said)
        self.assertIn("| 4.0.5 | 2.13 | 17 | 3 | `modesTest` 3 |", text)
        self.assertNotIn("scalaTest", text)


if __name__ == "__main__":
    unittest.main()
