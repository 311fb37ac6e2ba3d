"""The rooms and their order, which CONTRIBUTING.md lists: a file imports from its own room and from rooms above it in the list."""

import re
import unittest

import sources

CONTRIBUTING = sources.ROOT / "CONTRIBUTING.md"


def section(title):
    found = re.search(r"^### %s\n(.*?)(?=^#|\Z)" % re.escape(title), CONTRIBUTING.read_text("utf-8"), re.M | re.S)
    if found is None:
        raise AssertionError("CONTRIBUTING.md has no section '%s'" % title)
    return found.group(1)


def rows_of(title):
    """The rows of the table below a heading, each the rooms that stand side by side in it."""
    cells = re.findall(r"^\| (`[^|]*) \|", section(title), re.M)
    return [re.findall(r"`([\w.:]+)`", cell) for cell in cells]


def short(path):
    return str(path.relative_to(sources.ROOT))


class LayersTest(unittest.TestCase):
    maxDiff = None

    def check_layers(self, rows, room_of, graph):
        rank = {room: row for row, rooms in enumerate(rows) for room in rooms}
        without = sorted({room_of(path) for path in graph} - set(rank))
        self.assertEqual(without, [], "folders that CONTRIBUTING.md does not list")
        self.assertEqual(sorted(set(rank) - {room_of(path) for path in graph}), [], "rooms that are listed and have no file")
        wrong = []
        for path, imported in sorted(graph.items()):
            for other in sorted(imported):
                here, there = room_of(path), room_of(other)
                if here != there and rank[there] >= rank[here]:
                    wrong.append("%s (%s) imports %s (%s)" % (short(path), here, short(other), there))
        self.assertEqual(wrong, [], "imports of a room that is not above the own one in CONTRIBUTING.md")

    def check_cycles(self, graph):
        groups = [" <-> ".join(short(path) for path in group) for group in sources.cycles(graph)]
        self.assertEqual(groups, [], "files that import each other")

    def test_jvm(self):
        files = sources.jvm_files()
        graph = sources.jvm_graph(files)
        self.assertGreater(len(graph), 150)
        self.assertGreater(sum(map(len, graph.values())), 500)
        self.check_layers(rows_of("Rooms of the JVM half"), lambda path: sources.package_of(files[path]), graph)
        self.check_cycles(graph)

    def check_crate(self, crate, title):
        src = sources.CRATES[crate]
        graph = sources.rust_graph(src)
        self.assertGreater(len(graph), 15)
        self.assertGreater(sum(map(len, graph.values())), 40)

        def room_of(path):
            parts = path.relative_to(src).with_suffix("").parts
            return parts[0]

        self.check_layers(rows_of(title), room_of, graph)
        self.check_cycles(graph)

    def test_solvers(self):
        self.check_crate("dwell-solvers", "Rooms of native/solvers")

    def test_boundary(self):
        self.check_crate("dwell-jni", "Rooms of native/jni")

    def test_packages_are_folders(self):
        for path, text in sources.jvm_files().items():
            root = next(root for root in (sources.SCALA, sources.CONNECT, sources.JAVA) if root in path.parents)
            self.assertEqual(".".join(path.parent.relative_to(root).parts), sources.package_of(text), short(path))

    def test_folders_are_small(self):
        """About fifteen files a folder: more are several rooms."""
        roots = [sources.SCALA, sources.CONNECT, sources.JAVA, *sources.CRATES.values()]
        folders = {path.parent for root in roots for path in root.rglob("*") if path.suffix in (".scala", ".java", ".rs")}
        crowded = {short(folder): count for folder in folders
                   for count in [sum(path.is_file() for path in folder.iterdir())] if count > MOST_FILES}
        self.assertEqual(crowded, {})


MOST_FILES = 15


class SourcesTest(unittest.TestCase):
    """That the graph sees what it must see: a check that finds nothing is no check."""

    def test_cycles_are_found(self):
        self.assertEqual(sources.cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}), [["a", "b", "c"]])
        self.assertEqual(sources.cycles({"a": {"b"}, "b": {"c"}, "c": set()}), [])

    def test_use_trees_are_expanded(self):
        code = "use crate::{a::{B, c::D}, e::*};\npub(crate) use super::f::G;\nfn h() { crate::i::j(); }"
        self.assertEqual(use(code), ["crate::a::B", "crate::a::c::D", "crate::e::*", "super::f::G", "crate::i::j"])

    def test_strings_and_comments_do_not_count(self):
        self.assertEqual(sources.code_of('a /* B */ "C" f("${D(1)}") // E').split(), ["a", "f(", "D(1)", ")"])


def use(code):
    return sources.use_paths(code)


if __name__ == "__main__":
    unittest.main()
