"""Links and paths in the documents lead to existing files and headings."""

import re
import unittest

import others  # noqa: F401
from published import ROOT

# Folders that the build makes: they may be missing, and the tests do not look into them.
GENERATED = {line.strip("/\n") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines() if re.fullmatch(r"/[^*]+/", line)}
FILE = re.compile(r"[\w@.*+-]+\.(?:md|py|rs|scala|java|json|html|svg|gradle|properties|toml|sh|txt)")
PATH = re.compile(r"[\w@.*+-]+(?:/[\w@.*+-]+)*/?")


def is_generated(path):
    """Whether the build makes this path."""
    relative = path.relative_to(ROOT).as_posix()
    return any(relative == name or relative.startswith(name + "/") for name in GENERATED)


def documents():
    """All documents of the repository."""
    return sorted(path for path in ROOT.rglob("*.md") if ".git" not in path.parts and not is_generated(path))


def sources():
    """All sources whose comments may name documents."""
    return sorted(path for path in ROOT.rglob("*") if path.suffix in (".scala", ".java", ".rs", ".gradle") and not is_generated(path))


def prose(path):
    """The text of a document without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(path):
    """The anchors of the headings of a document."""
    headings = re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def within(directory, target):
    """`target` as a path of this tree, or None if it leads out of the tree."""
    path = (directory / target).resolve()
    return path if path == ROOT or ROOT in path.parents else None


def exists(directory, target):
    """Whether `target`, a path or a pattern relative to `directory`, exists in this tree."""
    path = within(directory, target)
    if path is None:
        return False
    if "*" in target:
        return any(directory.glob(target))
    return path.exists() or is_generated(path)


def names_a_path(code):
    """Whether a piece of code in a text names a path of this tree: below one of its folders, relative, or the name of a file."""
    if not PATH.fullmatch(code):
        return False
    first = code.split("/")[0]
    return FILE.fullmatch(code) is not None or ("/" in code and (first in (".", "..") or (ROOT / first).is_dir() or FILE.search(code) is not None))


class Links(unittest.TestCase):
    """Links, paths, and the index of results."""

    def test_links_lead_to_files_and_headings(self):
        checked = 0
        for document in documents():
            for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", prose(document)):
                where = "%s links to %s#%s" % (document.relative_to(ROOT), target, anchor)
                self.assertTrue(target == "" or exists(document.parent, target), where)
                if anchor:
                    self.assertIn(anchor, anchors(document.parent / target if target else document), where)
                checked += 1
        self.assertGreater(checked, 20)

    def test_paths_in_the_text_exist(self):
        checked = 0
        for document in documents():
            for code in re.findall(r"`([^`\n]+)`", prose(document)):
                if names_a_path(code):
                    self.assertTrue(exists(document.parent, code) or exists(ROOT, code), "%s names %s" % (document.relative_to(ROOT), code))
                    checked += 1
        self.assertGreater(checked, 10)

    def test_sources_name_documents_that_exist(self):
        names = {path.name for path in documents()}
        checked = 0
        for source in sources():
            for path in re.findall(r"\b(?:bench/results|docs)/[\w./-]*\w|\b[\w-]+\.md\b", source.read_text(encoding="utf-8")):
                self.assertTrue(exists(ROOT, path) or path in names, "%s names %s" % (source.relative_to(ROOT), path))
                checked += 1
        self.assertGreater(checked, 3)

    def test_index_has_every_result(self):
        results = ROOT / "bench" / "results"
        index = (results / "README.md").read_text(encoding="utf-8")
        there = {path.name + ("/README.md" if path.is_dir() else "") for path in results.iterdir()} - {"README.md"}
        folders = re.search(r"^## Folders\n(.*?)(?=^## |\Z)", index, re.MULTILINE | re.DOTALL).group(1)
        self.assertEqual(sorted(there), sorted(re.findall(r"^\| \[[^]]*\]\(([^)]*)\)", folders, re.MULTILINE)))


if __name__ == "__main__":
    unittest.main()
