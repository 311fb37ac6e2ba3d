"""The documents name only what exists: tasks, files, classes, configuration keys. The cheap commands are run."""

import re
import shlex
import subprocess
import unittest
import zipfile

from published import JAR, JAVA, ROOT, TASKS

DOCUMENTS = ["README.md", "CONTRIBUTING.md"]
SOURCES = [ROOT / "jvm" / "src" / "main", ROOT / "native"]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def fenced(document, language):
    return "\n".join(re.findall(r"^```%s\n(.*?)^```" % language, text(document), re.MULTILINE | re.DOTALL))


def commands():
    """Each command line that a document tells to type, without comments."""
    for document in DOCUMENTS:
        for line in fenced(document, "sh").splitlines():
            yield shlex.split(line, comments=True)
        for code in re.findall(r"`((?:\./gradlew|cargo|java|spark-submit) [^`]*)`", text(document)):
            yield shlex.split(code)


def source_text():
    files = [path for root in SOURCES for path in root.rglob("*") if path.suffix in (".scala", ".java", ".rs")]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


class Documents(unittest.TestCase):
    def test_every_gradle_task_exists(self):
        named = set()
        for words in commands():
            if words and words[0] == "./gradlew":
                named.update(word for word in words[1:] if not word.startswith("-"))
        self.assertLessEqual({"demo", "check", "jar", "bench"}, named)
        self.assertEqual(set(), named - TASKS)

    def test_every_command_is_of_a_known_kind(self):
        known = {"./gradlew", "cargo", "java", "spark-submit"}
        self.assertEqual(set(), {words[0] for words in commands() if words} - known)

    def test_cargo_packages_exist(self):
        packages = {re.search(r'^name = "(.*)"', path.read_text(), re.MULTILINE).group(1) for path in ROOT.glob("native/*/Cargo.toml")}
        for words in commands():
            if words and words[0] == "cargo" and "-p" in words:
                self.assertIn(words[words.index("-p") + 1], packages)

    def test_jar_is_where_the_commands_expect_it(self):
        named = {word for words in commands() for word in words if word.endswith(".jar") and word.startswith("build/")}
        self.assertEqual({JAR.relative_to(ROOT).as_posix()}, named)

    def test_java_commands_run(self):
        ran = 0
        for words in commands():
            if words and words[0] == "java":
                done = subprocess.run([JAVA, *words[1:]], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                self.assertEqual(0, done.returncode, done.stdout)
                self.assertIn("loaded from", done.stdout.splitlines()[-1])
                ran += 1
        self.assertGreater(ran, 0)

    def test_links_lead_to_files(self):
        for document in DOCUMENTS + ["CHANGELOG.md"]:
            for target in re.findall(r"\]\((?!https?:)([^)#]+)", text(document)):
                self.assertTrue((ROOT / target).exists(), "%s links to %s" % (document, target))

    def test_directories_of_the_layout_exist(self):
        layout = re.search(r"^## Layout\n(.*?)^## ", text("CONTRIBUTING.md"), re.MULTILINE | re.DOTALL).group(1)
        named = re.findall(r"^    ([a-z][a-z/-]*/) ", layout, re.MULTILINE)
        self.assertGreater(len(named), 5)
        self.assertEqual([], [name for name in named if not (ROOT / name).is_dir()])

    def test_imports_are_classes_of_the_jar(self):
        imports = re.findall(r"^import (dwell\.[A-Za-z.]+)", fenced("README.md", "scala"), re.MULTILINE)
        with zipfile.ZipFile(JAR) as archive:
            names = set(archive.namelist())
        self.assertTrue(imports)
        self.assertEqual([], [name for name in imports if name.replace(".", "/") + ".class" not in names])

    def test_configuration_keys_are_those_of_the_sources(self):
        sources = source_text()
        keys = r"(spark\.dwell\.[a-zA-Z.]*[a-zA-Z])"
        self.assertEqual(set(re.findall('"%s"' % keys, sources)), set(re.findall(keys, text("README.md"))))
        properties = r"(dwell\.(?:library|native)\.[a-zA-Z]+)"
        self.assertEqual(set(re.findall('"%s"' % properties, sources)), set(re.findall("`%s`" % properties, text("README.md"))))

    def test_params_are_those_of_the_sources(self):
        files = (SOURCES[0] / "scala/dwell/ml/param").glob("*.scala")
        declared = re.findall(r"final val (\w+): (?:Int|Double)?Param", "\n".join(path.read_text() for path in files))
        sections = re.findall(r"^## (?:Params|Topic models)\n(.*?)^## ", text("README.md"), re.MULTILINE | re.DOTALL)
        documented = re.findall(r"^\| `(\w+)` \|", "\n".join(sections), re.MULTILINE)
        self.assertEqual(sorted(declared), sorted(documented))


if __name__ == "__main__":
    unittest.main()
