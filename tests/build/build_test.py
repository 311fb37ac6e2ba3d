"""What the build compiles and runs again after an edit, and what it does not: edits in a small copy of the tree."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from scripts import ROOT

PYTHON = os.environ["DWELL_PYTHON"]
# What the copy has of the tree, beside the few sources that the tests write.
COPIED = [".scalafmt.conf", "CONTRIBUTING.md", "Cargo.lock", "Cargo.toml", "build-support", "build.gradle", "gradle", "gradle.properties",
          "gradlew", "jvm/src/main/java", "native", "rust-toolchain.toml", "settings.gradle"]
MODULES = set(re.findall(r"^scalaModule\('(\w+)'", (ROOT / "gradle" / "jvm.gradle").read_text("utf-8"), re.MULTILINE))
# Seconds for one call of Gradle.
PATIENCE = 300


class Gradle:
    """Gradle with a daemon that no other build has. It ends with these tests, or soon after they were killed."""

    def __init__(self, directory):
        self.directory = directory
        self.options = ["-Dorg.gradle.daemon=true", "-Dorg.gradle.daemon.registry.base=%s" % (directory / "daemon"), "-Dorg.gradle.daemon.idletimeout=60000",
                        "-Dorg.gradle.jvmargs=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx512m"]
        # A cargo that writes down what it is asked for, and does nothing. The daemon has the environment of the first call.
        self.ran, self.failing = directory / "ran", directory / "failing"
        self.tools = directory / "bin"
        self.tools.mkdir()
        cargo = self.tools / "cargo"
        cargo.write_text("#!/bin/sh\necho \"cargo $*\" >> '%s'\ntest ! -e '%s'\n" % (self.ran, self.failing))
        cargo.chmod(0o755)

    def run(self, tree, *arguments):
        """Without what the build sets, which may run these tests."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("DWELL_") and name != "SPARK_HOME"}
        environment["PATH"] = "%s%s%s" % (self.tools, os.pathsep, environment["PATH"])
        return subprocess.run(["./gradlew", *self.options, *arguments], cwd=tree, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)


gradle = None


def setUpModule():
    global gradle
    temporary = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(temporary.cleanup)
    gradle = Gradle(pathlib.Path(temporary.name).resolve())
    unittest.addModuleCleanup(lambda: subprocess.run(["gradle", *gradle.options, "--stop"], cwd=temporary.name, stdout=subprocess.DEVNULL,
                                                     stderr=subprocess.DEVNULL, check=True, timeout=PATIENCE))


@unittest.skipIf(shutil.which("gradle") is None, "gradlew would install Gradle")
class BuildTest(unittest.TestCase):
    """Calls of the build in a copy of the tree. All tests of a class share it, since the first call takes long."""

    # The texts of the files that the tests edit, by their paths in the copy.
    files = {}
    # What the copy is brought to first.
    goal = ()

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.directory = pathlib.Path(temporary.name).resolve()
        cls.tree = cls.directory / "tree"
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            (cls.tree / name).parent.mkdir(parents=True, exist_ok=True)
            copy(ROOT / name, cls.tree / name)
        for path, text in cls.files.items():
            cls.write(path, text)
        cls.first = cls.build(*cls.goal)

    @classmethod
    def build(cls, *arguments):
        return gradle.run(cls.tree, "-Ppython=%s" % PYTHON, *arguments)

    @classmethod
    def write(cls, path, text):
        (cls.tree / path).parent.mkdir(parents=True, exist_ok=True)
        (cls.tree / path).write_text(text.replace("RAN", str(gradle.ran)), encoding="utf-8")

    def setUp(self):
        self.succeeds(self.first)

    def edit(self, path, old, new):
        text = (self.tree / path).read_text("utf-8")
        self.assertIn(old, text)
        self.write(path, text.replace(old, new))

    def succeeds(self, done):
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done

    def fails(self, done):
        self.assertEqual(1, done.returncode, done.stdout + done.stderr)
        return done


MAIN, TESTS, JAVA = "jvm/src/main/scala/dwell/%s.scala", "tests/scala/dwell/%s.scala", "jvm/src/main/java/dwell/jni/Cancellation.java"


class Compiling(BuildTest):
    """What is compiled again. Each test edits files of its own: Zinc compiles a whole module where half of it has to be."""

    goal = ["compileTestsScala"]
    files = {
        **{MAIN % name: "package dwell\n\nobject %s {\n  def value: Int = 1\n}\n" % name for name in ("Base", "Broken", "Gone", "Idle")},
        # The text of a method is in the class file that others read, which is not so for an object.
        MAIN % "Inner": "package dwell\n\nclass Inner {\n  def value: Int = 1\n}\n",
        MAIN % "User": "package dwell\n\nobject User {\n  def sum: Long = Base.value + new Inner().value\n}\n",
        MAIN % "Warned": "package dwell\n\nimport scala.util.Try\n\nobject Warned\n",
        MAIN % "Native": "package dwell\n\nobject Native {\n  def asked: Any = jni.Cancellation.NEVER.requested()\n}\n",
        TESTS % "UserTest": "package dwell\n\nclass UserTest {\n  assert(User.sum == 0L + Base.value + new Inner().value)\n}\n",
        **{TESTS % name: "package dwell\n\nclass %s\n" % name for name in ("OneTest", "OtherTest")},
    }

    def classes(self):
        """When each class file was written."""
        root = self.tree / "build" / "classes" / "scala"
        return {path.relative_to(root): path.stat().st_mtime_ns for path in root.rglob("*.class")}

    def sources(self, classes):
        """Module and source of class files."""
        return {"%s/%s" % (path.parts[0], path.stem.rstrip("$")) for path in classes}

    def compiled(self, *arguments):
        """The sources that a call of the build compiles, which succeeds."""
        before = self.classes()
        self.succeeds(self.build(*arguments))
        return self.sources(path for path, time in self.classes().items() if before.get(path) != time)

    def test_an_edit_of_a_type_compiles_what_uses_it_and_no_edit_nothing(self):
        self.compiled(*self.goal)
        before = self.classes()
        self.assertEqual("", self.succeeds(self.build(*self.goal)).stdout)
        self.assertEqual(before, self.classes())
        self.edit(MAIN % "Base", "value: Int", "value: Long")
        self.assertEqual({"main/Base", "main/User", "tests/UserTest"}, self.compiled(*self.goal))

    def test_an_edit_of_java_compiles_the_scala_that_uses_it(self):
        self.edit(JAVA, "boolean requested", "long requested")
        self.edit(JAVA, "() -> false", "() -> 0")
        # It may compile more: Zinc knows less of classes that it has not compiled.
        self.assertIn("main/Native", self.compiled("compileMainScala"))

    def test_an_error_is_told_and_a_source_that_is_gone_leaves_nothing(self):
        everything = self.sources(self.classes())
        self.edit(MAIN % "Broken", "= 1", '= "one"')
        done = self.fails(self.build("compileMainScala"))
        self.assertRegex(done.stderr, r"(?m)^%s:4: error: type mismatch;$" % re.escape(str(self.tree / (MAIN % "Broken"))))
        self.assertIn('\n  def value: Int = "one"\n', done.stderr)
        self.edit(MAIN % "Broken", '"one"', "2")
        (self.tree / (MAIN % "Gone")).unlink()
        self.assertEqual({"main/Broken"}, self.compiled("compileMainScala"))
        self.assertEqual(everything - {"main/Gone"}, self.sources(self.classes()))

    def test_a_module_may_have_no_sources(self):
        self.succeeds(self.build("compileDemoScala"))

    def test_a_warning_stays_until_it_is_mended(self):
        warning = "%s:3: warning: Unused import\n  import scala.util.Try\n" % (self.tree / (MAIN % "Warned"))
        self.assertIn(warning, self.first.stderr)
        warnings = self.tree / "build" / "compile" / "main.warnings"
        lint = ["scalaLint"]
        for name in MODULES - {"main", "tests"}:
            # It has no sources here.
            lint += ["-x", "compile%s%sScala" % (name[0].upper(), name[1:])]
            (warnings.parent / (name + ".warnings")).touch()

        def found():
            return warnings.read_text("utf-8"), json.loads((self.tree / "build" / "check" / "scalaLint.json").read_text())["failed"]

        done = self.fails(self.build(*lint))
        self.assertIn(warning, done.stdout)
        self.assertEqual((warning, 1), found())
        # The edit leaves the types as they are, so nothing else is compiled, the tests that use it among them.
        self.edit(MAIN % "Inner", "= 1", "= 2")
        before = self.classes()
        done = self.fails(self.build(*lint))
        after = self.classes()
        self.assertEqual({"main/Inner"}, self.sources(path for path in after if before.get(path) != after[path]))
        self.assertEqual(["compiling 1 Scala source to %s ..." % (self.tree / "build/classes/scala/main")], re.findall("^compiling .*", done.stdout, re.MULTILINE))
        self.assertNotIn("warning: ", done.stderr)
        self.assertEqual((warning, 1), found())
        self.edit(MAIN % "Warned", "import scala.util.Try\n", "")
        self.succeeds(self.build(*lint))
        self.assertEqual(("", 0), found())


CASES = """\
import unittest


class Cases(unittest.TestCase):
    def test_one(self):
        with open("RAN", "a") as ran:
            ran.write("%s\\n")

    def test_two(self):
        pass
"""


class Results(BuildTest):
    """Which groups run again. Each of these is cheap, the last one in the project of those that run beside the others."""

    goal = ["rustFormatCheck", "goldenTest", "packagingTest", "-xjar", "-xjar212"]
    groups = {"rustFormatCheck", "goldenTest", "packagingTest"}
    files = {"tests/golden/golden_test.py": CASES % "goldenTest", "tests/packaging/packaging_test.py": CASES % "packagingTest"}
    total = "5 passed, 0 failed"

    # Whether all groups have passed since the last edit.
    settled = True

    def setUp(self):
        super().setUp()
        if not self.settled:
            self.succeeds(self.build(*self.goal))

    def run_groups(self, *arguments):
        """A call of the build, and the groups that ran in it."""
        type(self).settled = False
        gradle.ran.write_text("")
        done = self.build(*arguments)
        ran = [line.replace("cargo fmt --all --check", "rustFormatCheck") for line in gradle.ran.read_text().splitlines()]
        self.assertEqual(sorted(set(ran)), sorted(ran))
        return done, set(ran)

    def kept(self, done):
        """The groups of which it says that they are kept."""
        return set(re.findall(r"^(\w+) .* kept from an earlier run$", done.stdout, re.MULTILINE))

    def check(self, ran, *arguments):
        """All groups pass, these ran for it, and the others are kept."""
        done, found = self.run_groups(*self.goal, *arguments)
        self.succeeds(done)
        self.assertEqual((ran, self.groups - ran, self.total), (found, self.kept(done), last_line(done)), done.stdout)
        type(self).settled = True
        return done

    def results(self):
        return {name: (self.tree / "build" / "check" / (name + ".json")).read_bytes() for name in self.groups}

    def test_an_edit_runs_what_depends_on_it_and_no_edit_nothing(self):
        self.assertEqual((set(), self.total), (self.kept(self.first), last_line(self.first)))
        self.assertIn("Nothing ran: all results are kept", self.check(set()).stdout)
        self.write("tests/golden/numbers.json", "[1]\n")
        self.check({"goldenTest", "packagingTest"})
        self.write("native/solvers/src/more.rs", "// nothing\n")
        self.check({"rustFormatCheck", "packagingTest"})

    def test_a_group_that_failed_runs_again(self):
        gradle.failing.touch()
        self.addCleanup(lambda: gradle.failing.exists() and gradle.failing.unlink())
        self.write("native/solvers/src/other.rs", "// nothing\n")
        for ran in {"rustFormatCheck", "packagingTest"}, {"rustFormatCheck"}:
            done, found = self.run_groups(*self.goal)
            self.fails(done)
            self.assertEqual((ran, "4 passed, 1 failed"), (found, last_line(done)))
        # Nothing that the group depends on changes.
        gradle.failing.unlink()
        self.check({"rustFormatCheck"})

    def test_a_part_of_a_group_is_not_its_result(self):
        before = self.results()
        done, found = self.run_groups("goldenTest", "-Pmatching=one")
        self.succeeds(done)
        self.assertEqual(({"goldenTest"}, before), (found, self.results()))
        self.check(set())
        self.assertEqual("1 passed, 0 failed", last_line(done))

    def test_a_group_by_hand_leaves_the_others(self):
        before = self.results()
        self.write("tests/golden/hand.json", "[1]\n")
        done, found = self.run_groups("goldenTest")
        self.succeeds(done)
        after = self.results()
        self.assertEqual(({"goldenTest"}, {"goldenTest"}), (found, {name for name in after if before[name] != after[name]}))
        # Only a result that is as the group left it is kept.
        self.edit("build/check/goldenTest.json", '"passed": 2', '"passed": 3')
        self.check({"goldenTest", "packagingTest"})

    def test_touched_has_the_groups_of_check_and_those_that_ran_here(self):
        def named():
            done = self.succeeds(self.build("touched", "--dry-run"))
            return set(re.findall(r"^:(?:\w+:)?(\w+) SKIPPED$", done.stdout, re.MULTILINE))

        groups = named()
        self.assertLessEqual(self.groups | {"rustTest", "touched"}, groups)
        self.assertNotIn("cAbiTest", groups)
        self.write("build/check/cAbiTest.json", "{}")
        self.addCleanup((self.tree / "build" / "check" / "cAbiTest.json").unlink)
        self.assertEqual({"cAbiTest"}, named() - groups)

    def test_on_request_and_with_another_tool_all_run(self):
        self.check(self.groups, "-Pagain")
        other = gradle.tools / "another-python"
        other.symlink_to(shutil.which(PYTHON))
        self.check(self.groups, "-Ppython=%s" % other)
        type(self).settled = False


def last_line(done):
    return done.stdout.splitlines()[-1]


if __name__ == "__main__":
    unittest.main()
