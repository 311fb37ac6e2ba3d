"""The form of the documents: fences, commands, the layout, and files of results."""

import re
import unittest

import others  # noqa: F401
from docs_test import DOCUMENTS, commands, section
from documents import FOR_USERS, KINDS, blocks, text, without_blocks
from published import ROOT


class DocumentsTest(unittest.TestCase):
    def test_every_block_is_of_a_kind_that_is_tested(self):
        for document in DOCUMENTS:
            found = blocks(document)
            self.assertEqual(2 * len(found), len(re.findall(r"^\s*(?:```|~~~)", text(document), re.MULTILINE)), "%s: a fence is not seen" % document)
            for before, block in zip([None] + found, found):
                self.assertIn(block.language, KINDS, "%s: no test covers\n%s" % (document, block.code))
                if block.language == "text":
                    self.assertTrue(before is not None and before.language in ("sh", "scala", "python"), "%s: no output to compare with\n%s" % (document, block.code))
        # In CONTRIBUTING.md the layout is such a block; it has a test of its own.
        for document in FOR_USERS:
            indented = re.findall(r"\n\n((?: {4}|\t).*)", without_blocks(document))
            self.assertEqual([], indented, "%s: no test covers a block without a fence" % document)

    def test_every_command_is_of_a_known_kind(self):
        known = {"./gradlew", "cargo", "java", "pip", "spark-submit"}
        self.assertEqual(set(), {words[0] for words in commands()} - known)

    def test_directories_of_the_layout_exist(self):
        named = re.findall(r"^    ([a-z][a-z/-]*/) ", section("CONTRIBUTING.md", "Layout"), re.MULTILINE)
        self.assertGreater(len(named), 5)
        self.assertEqual([], [name for name in named if not (ROOT / name).is_dir()])

    def test_every_result_names_its_file(self):
        for document, titles in {"README.md": ["Results"], "docs/results.md": ["Beside Spark", "Where Dwell is slower", "Beside other programs"]}.items():
            for title in titles:
                rows = re.findall(r"^\| (?!:)(.*) \|$", section(document, title), re.MULTILINE)[1:]
                self.assertTrue(rows, "%s: no row in %s" % (document, title))
                for row in rows:
                    page = row.split(" | ")[-1]
                    self.assertTrue("bench/results/" in page or page == "the same", "%s: no file for %s" % (document, row))


if __name__ == "__main__":
    unittest.main()
