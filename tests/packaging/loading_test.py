"""Loads the library from the jar alone, in a directory of its own, as a user's machine does."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import zipfile

from published import BUILD_ID, JAR, VERSION, library, native_info


def altered(target, change):
    """A copy of the jar: `change` gives the new bytes of each entry, or None to leave it out."""
    with zipfile.ZipFile(JAR) as source, zipfile.ZipFile(target, "w") as copy:
        for name in source.namelist():
            content = change(name, source.read(name))
            if content is not None:
                copy.writestr(name, content)
    return target


class Loading(unittest.TestCase):
    """The loader in good and bad surroundings."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.jar = pathlib.Path(shutil.copy(JAR, self.directory))

    def run_info(self, *options, jar=None, wrapper=()):
        done = native_info(jar or self.jar, self.directory, *options, wrapper=wrapper)
        return done.returncode, done.stdout

    def assertLoads(self, result):
        status, output = result
        self.assertEqual(0, status, output)
        self.assertIn("dwell %s " % VERSION, output)
        self.assertIn("build %s" % BUILD_ID[:12], output)

    def assertRefuses(self, result, *words):
        status, output = result
        self.assertEqual(1, status, output)
        # The message is a single line; the stack trace follows it.
        message = next((line for line in output.splitlines() if "NativeUnavailableException" in line), "")
        for word in words:
            self.assertIn(word, message, output)

    def test_loads_and_leaves_nothing_behind(self):
        self.assertLoads(self.run_info())
        self.assertEqual([self.jar.name], [path.name for path in self.directory.iterdir()])

    def test_library_named_by_property(self):
        with zipfile.ZipFile(JAR) as archive:
            given = self.directory / "given.so"
            given.write_bytes(archive.read(library(archive)))
        result = self.run_info("-Ddwell.library.path=%s" % given)
        self.assertLoads(result)
        self.assertIn(str(given), result[1])

    def test_a_named_library_that_is_not_there_is_not_replaced(self):
        self.assertRefuses(self.run_info("-Ddwell.library.path=%s/none.so" % self.directory), "dwell.library.path")

    def test_switched_off(self):
        self.assertRefuses(self.run_info("-Ddwell.native.disabled=true"), "dwell.native.disabled")

    def test_library_of_another_build(self):
        other = "0" * len(BUILD_ID)
        jar = altered(self.directory / "other.jar", lambda name, content:
                      content.replace(BUILD_ID.encode(), other.encode()) if name == "dwell/build.properties" else content)
        self.assertRefuses(self.run_info(jar=jar), BUILD_ID, other)

    def test_no_library_for_this_platform(self):
        jar = altered(self.directory / "bare.jar", lambda name, content: None if name.startswith("native/") else content)
        self.assertRefuses(self.run_info(jar=jar), "no native library for")

    def with_library(self, change):
        """A copy of the jar with another library: `change` gives its bytes."""
        with zipfile.ZipFile(JAR) as archive:
            name = library(archive)
            entries = {name: change(archive.read(name))}
        entries[name + ".sha256"] = hashlib.sha256(entries[name]).hexdigest().encode()
        return altered(self.directory / "changed.jar", lambda name, content: entries.get(name, content))

    def test_damaged_library(self):
        self.assertRefuses(self.run_info(jar=self.with_library(lambda content: b"no library")), "cannot be loaded")

    def test_library_that_is_not_the_one_that_was_built(self):
        jar = altered(self.directory / "other.jar", lambda name, content:
                      content[:-1] + b"\xff" if name.endswith(".so") else content)
        self.assertRefuses(self.run_info(jar=jar), "SHA-256")
        jar = altered(self.directory / "bare.jar", lambda name, content: None if name.endswith(".sha256") else content)
        self.assertRefuses(self.run_info(jar=jar), "has no", ".sha256")

    def test_library_of_another_architecture(self):
        # e_machine, bytes 18 and 19 of an ELF header: 8 is MIPS.
        jar = self.with_library(lambda content: content[:18] + b"\x08\x00" + content[20:])
        self.assertRefuses(self.run_info(jar=jar), "another operating system or architecture")

    def with_noexec(self, options, where):
        """The diagnosis in a mount namespace in which the directory `where` is mounted noexec."""
        script = 'mount -t tmpfs -o noexec,mode=1777 tmpfs "$0" || exit 77; exec "$@"'
        unshare = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
        probe = [*unshare, "sh", "-c", script, str(where), "true"]
        if shutil.which("unshare") is None or subprocess.run(probe, stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("a file system cannot be mounted here")
        return self.run_info(*options, wrapper=[*unshare, "sh", "-c", script, str(where)])

    def test_noexec_directory_is_survived(self):
        noexec = self.directory / "noexec"
        noexec.mkdir()
        result = self.with_noexec(["-Ddwell.native.tmpDir=%s" % noexec], noexec)
        self.assertLoads(result)
        self.assertNotIn("loaded from %s" % noexec, result[1])

    def test_noexec_everywhere_is_named(self):
        # The loader can try only this directory; the jar lies outside of it.
        jar = pathlib.Path(shutil.move(self.jar, self.directory.parent / (self.directory.name + ".jar")))
        self.addCleanup(jar.unlink)
        self.jar = jar
        status, output = self.with_noexec([], self.directory)
        self.assertRefuses((status, output), "noexec", "dwell.native.tmpDir")


if __name__ == "__main__":
    unittest.main()
