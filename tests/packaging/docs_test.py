"""The documents name only tasks, files, classes and configuration keys that exist. The tests run the cheap commands."""

import decimal
import re
import shlex
import subprocess
import sys
import unittest
import zipfile

from published import JAR, JAVA, ROOT, TASKS

sys.path.insert(0, str(ROOT / "tests"))
from documents import FOR_USERS, blocks, missing, text, without_blocks  # noqa: E402

DOCUMENTS = FOR_USERS + ["CONTRIBUTING.md"]
SOURCES = [ROOT / "jvm" / "src" / "main", ROOT / "native"]


def commands_of(block):
    """The words of each line of a block, without comments and empty lines."""
    return [words for words in (shlex.split(line, comments=True) for line in block.lines) if words]


def commands():
    """The words of each command line in the documents, without comments."""
    for document in DOCUMENTS:
        for block in blocks(document):
            if block.language == "sh":
                yield from commands_of(block)
        for code in re.findall(r"`((?:\./gradlew|cargo|java|spark-submit) [^`]*)`", without_blocks(document)):
            yield shlex.split(code)


def section(document, title):
    """The text below a heading of the second level."""
    return re.search(r"^## %s\n(.*?)(?=^## |\Z)" % title, text(document), re.MULTILINE | re.DOTALL).group(1)


def source_text():
    """The text of all main sources."""
    files = [path for root in SOURCES for path in root.rglob("*") if path.suffix in (".scala", ".java", ".rs")]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def build_properties():
    """The properties of gradle.properties."""
    return dict(re.findall(r"^(\w+)=(.*)$", (ROOT / "gradle.properties").read_text(encoding="utf-8"), re.MULTILINE))


class Documents(unittest.TestCase):
    """The documents against sources, build and jar."""

    def test_every_gradle_task_exists(self):
        named = set()
        for words in commands():
            if words[0] == "./gradlew":
                named.update(word for word in words[1:] if not word.startswith("-"))
        self.assertLessEqual({"demo", "check", "jar", "bench"}, named)
        self.assertEqual(set(), named - TASKS)

    def test_pip_installs_the_wheel_that_the_build_makes(self):
        self.assertEqual({"install pyspark[ml] build/wheel/*.whl", "install pyspark-client build/wheel/*.whl"}, {" ".join(words[1:]) for words in commands() if words[0] == "pip"})

    def test_cargo_packages_exist(self):
        packages = {re.search(r'^name = "(.*)"', path.read_text(), re.MULTILINE).group(1) for path in ROOT.glob("native/*/Cargo.toml")}
        for words in commands():
            if words[0] == "cargo" and "-p" in words:
                self.assertIn(words[words.index("-p") + 1], packages)

    def test_jar_is_where_the_commands_expect_it(self):
        named = {word for words in commands() for word in words if word.endswith(".jar") and word.startswith("build/")}
        self.assertEqual({JAR.relative_to(ROOT).as_posix()}, named)

    def test_java_commands_run_and_print_what_is_shown(self):
        ran = 0
        for document in FOR_USERS:
            found = blocks(document)
            for block, after in zip(found, found[1:] + [None]):
                if block.language != "sh":
                    continue
                output = ""
                for words in commands_of(block):
                    if words[0] == "java":
                        done = subprocess.run([JAVA, *words[1:]], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                        self.assertEqual(0, done.returncode, done.stdout)
                        self.assertIn("loaded from", done.stdout.splitlines()[-1])
                        output += done.stdout
                        ran += 1
                if after is not None and after.language == "text":
                    self.assertEqual([], missing(after, output), "%s shows what is not in\n%s" % (document, output))
        self.assertGreater(ran, 0)

    def test_imports_are_classes_of_the_jar(self):
        imports = []
        for block in (block for document in FOR_USERS for block in blocks(document) if block.language == "scala"):
            for package, names in re.findall(r"^import (dwell\.[\w.]+?)\.(\w+|\{[^}]*\})(?=\s)", block.code, re.MULTILINE):
                imports += ["%s.%s" % (package, name.strip()) for name in names.strip("{}").split(",")]
        with zipfile.ZipFile(JAR) as archive:
            names = set(archive.namelist())
        self.assertTrue(imports)
        self.assertEqual([], [name for name in imports if name.replace(".", "/") + ".class" not in names])

    def test_configuration_keys_are_those_of_the_sources(self):
        sources = source_text()
        for pattern, where, heading in (
                (r"(spark\.dwell\.[a-zA-Z.]*[a-zA-Z])", "docs/params.md", "Keys of the Spark session"),
                (r"(dwell\.(?:library|native)\.[a-zA-Z]+)", "docs/params.md", "System properties of a JVM")):
            keys = set(re.findall('"%s"' % pattern, sources))
            listed = re.findall(r"^\| `%s` \|" % pattern, section(where, heading), re.MULTILINE)
            self.assertEqual(sorted(keys), sorted(listed))
            for document in FOR_USERS:
                self.assertLessEqual(set(re.findall(pattern, text(document))), keys, document)

    def test_keys_have_the_defaults_of_the_sources(self):
        source = (SOURCES[0] / "scala/dwell/fit/DwellConf.scala").read_text(encoding="utf-8")
        keys = dict(re.findall(r'val (\w+) = "(spark\.dwell\.[^"]+)"', source))
        defaults = re.findall(r'read\((\w+), (?:Seq\("(\w+)"|Aggregation\.choices)', source) + re.findall(r'get\((\w+)\)\.getOrElse\("(\w+)"\)', source)
        found = {keys[name]: default or "auto" for name, default in defaults}
        self.assertEqual(set(keys.values()), set(found))
        rows = re.findall(r"^\| `(spark\.dwell\.[^`]+)` \| `(\w+)` \|", section("docs/params.md", "Keys of the Spark session"), re.MULTILINE)
        self.assertTrue(rows)
        self.assertEqual({key: found[key] for key, _ in rows}, dict(rows))

    def test_params_are_those_of_the_sources(self):
        files = (SOURCES[0] / "scala/dwell/ml/param").glob("*.scala")
        declared = re.findall(r"final val (\w+): (?:Int|Double)?Param", "\n".join(path.read_text() for path in files))
        sections = section("docs/params.md", "Params of the linear estimators") + section("docs/params.md", "Params of `LDA`")
        # Rows of Params have a default and values besides a meaning; rows in the table of values of `algorithm` do not.
        documented = re.findall(r"^\| `(\w+)` \|(?: [^|]+ \|){3}$", sections, re.MULTILINE)
        self.assertEqual(sorted(declared), sorted(documented))

    def test_params_that_change_nothing_are_read_nowhere(self):
        listed = re.findall(r"^\| `(\w+)` \|", section("docs/params.md", "Params of Spark's that change nothing"), re.MULTILINE)
        self.assertGreater(len(listed), 3)
        sources = source_text()
        self.assertEqual([], [name for name in listed if re.search(r"\b(get)?%s\b" % name, sources, re.IGNORECASE)])

    def test_fields_of_the_report_are_those_of_the_sources(self):
        sources = "\n".join(path.read_text() for path in (SOURCES[0] / "scala/dwell/report").glob("*.scala"))
        cells = re.findall(r"^\| (`.*?) \|", section("docs/fit-report.md", "Fields"), re.MULTILINE)
        named = re.findall(r"`(\w+)`", " ".join(cells))
        self.assertGreater(len(named), 10)
        self.assertEqual([], [name for name in named if not re.search(r"\b%s(?:\(\))?:" % name, sources)])

    def test_versions_are_those_of_the_build(self):
        built = build_properties()
        distributions = [built["sparkDistribution"]] + built["sparkDistributionsBetween"].split(",") + [built["sparkVersion"]]
        tested = [distribution.split("-")[-1] for distribution in distributions]
        versions = section("README.md", "What it needs")
        self.assertEqual(tested, re.findall(r"\d+\.\d+\.\d+", re.search(r"^\| Spark \|.*$", versions, re.MULTILINE).group()))
        scalas = [".".join(built[key].split(".")[:2]) for key in ("scalaVersion", "scala212Version")]
        self.assertIn("| Scala | %s; %s with Spark 3.5 |" % tuple(scalas), versions)
        self.assertIn("glibc %s " % built["glibcVersion"], versions)
        rows = re.findall(r"^\| (\d+\.\d+\.\d+) \|", section("docs/limits.md", "Versions and platforms"), re.MULTILINE)
        self.assertEqual(tested, sorted(set(rows), key=rows.index))
        bridge = (SOURCES[0] / "java/dwell/jni/NativeBridge.java").read_text(encoding="utf-8")
        abi = re.search(r"ABI_VERSION = (\d+);", bridge).group(1)
        shown = [found for document in FOR_USERS for found in re.findall(r"dwell ([\d.]+) \(abi (\d+),", text(document))]
        self.assertTrue(shown)
        self.assertEqual({(built["version"], abi)}, set(shown))

    def test_groups_of_the_table_of_versions_are_those_of_the_build(self):
        rows = re.findall(r"^\| [\d.]+ \| [\d.]+ \| \d+ \| (\d+) \| (.*) \|$", section("docs/limits.md", "Versions and platforms"), re.MULTILINE)
        self.assertTrue(rows)
        for passed, cell in rows:
            groups = re.findall(r"`(\w+)` (\d+)", cell)
            self.assertEqual([], [name for name, _ in groups if name not in TASKS])
            self.assertEqual(int(passed), sum(int(count) for _, count in groups))

    def test_every_figure_is_in_the_results_that_its_row_names(self):
        wrong, checked = [], 0
        for document, titles in RESULTS.items():
            for title in titles:
                page = None
                for cells in rows_of_results(document, title):
                    link = re.search(r"\]\(([^)]*)\)", cells[-1])
                    page = (ROOT / document).parent.joinpath(link.group(1)) if link else page
                    numbers = {number for part in page.parent.glob("*.md") for number in numbers_of(part.read_text(encoding="utf-8"))}
                    for figure in re.findall(r"\d[\d.]*", cells[-2]):
                        checked += 1
                        if not any(rounds_to(number, figure) for number in numbers):
                            wrong.append("%s: %s is not in %s: %s" % (document, figure, page.relative_to(ROOT), " | ".join(cells)))
        self.assertGreater(checked, 50)
        self.assertEqual([], wrong)


RESULTS = {"README.md": ["Results"], "docs/results.md": ["Beside Spark", "Where Dwell is slower", "Beside other programs"]}


def rows_of_results(document, title):
    """The rows of the tables in a section, each its cells: the last but one has figures, and the last one the page of their folder."""
    rows = re.findall(r"^\| (?!:)(.*) \|$", section(document, title), re.MULTILINE)[1:]
    return [[cell.strip() for cell in row.split(" | ")] for row in rows]


def numbers_of(page):
    """The numbers on a page."""
    return {decimal.Decimal(number) for number in re.findall(r"\d+(?:\.\d+)?", page.replace(",", ""))}


def rounds_to(number, figure):
    """Whether a number is a figure in so many places."""
    places = decimal.Decimal(1).scaleb(decimal.Decimal(figure).as_tuple().exponent)
    return abs(number - decimal.Decimal(figure)) <= places / 2


if __name__ == "__main__":
    unittest.main()
