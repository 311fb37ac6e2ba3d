"""The published jar contains what it should and nothing else; its libraries run on old machines."""

import hashlib
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest
import zipfile

from published import BUILD_ID, GLIBC, JAR, LIBRARIES, ROOT, VERSION, libraries

JAVA_11 = 55
SOURCES = [ROOT / "jvm/src/main" / language for language in ("java", "scala")]

# Names of the entries that the jar may contain, besides the classes of the bridge.
ALLOWED = [
    r"META-INF/(MANIFEST\.MF|LICENSE|NOTICE|THIRD-PARTY)",
    r"META-INF/services/org\.apache\.spark\.ml\.(Estimator|Transformer)",
    r"dwell/([a-z0-9]+/)*[A-Za-z0-9_$]+\.class",
    r"dwell/build\.properties",
    r"native/(linux|darwin|windows)/(x86_64|aarch64)/(libdwell-%s\.(so|dylib)|dwell-%s\.dll)(\.sha256)?" % ((re.escape(VERSION),) * 2),
]


def bridge_classes():
    """Expressions for the classes of the bridge: of each source file under org/apache/spark."""
    sources = [source.relative_to(root).with_suffix("") for root in SOURCES for source in (root / "org/apache/spark").rglob("*.*")]
    return [re.escape(source.as_posix()) + r"(\$[A-Za-z0-9_$]*)?\.class" for source in sources]


class Contents(unittest.TestCase):
    """The entries of the jar."""

    SCALA = "2.13"

    def setUp(self):
        self.archive = zipfile.ZipFile(JAR.with_name("dwell_%s-%s.jar" % (self.SCALA, VERSION)))
        self.addCleanup(self.archive.close)
        self.files = [name for name in self.archive.namelist() if not name.endswith("/")]

    def test_only_what_is_allowed(self):
        allowed = re.compile("|".join("(?:%s)" % expression for expression in ALLOWED + bridge_classes()))
        self.assertEqual([], [name for name in self.files if not allowed.fullmatch(name)])

    def test_no_entry_twice(self):
        self.assertEqual(len(set(self.files)), len(self.files))

    def test_what_must_be_there(self):
        for name in ("META-INF/LICENSE", "META-INF/NOTICE", "dwell/build.properties", "dwell/jni/NativeInfo.class",
                     "dwell/ml/regression/LinearRegression.class"):
            self.assertIn(name, self.files)

    def test_spark_connect_finds_estimators_that_are_there(self):
        services = "META-INF/services/org.apache.spark.ml.Estimator"
        if self.SCALA == "2.12":
            self.assertEqual([], [name for name in self.files if name == services or name.startswith("dwell/connect/")])
        else:
            listed = self.archive.read(services).decode().split()
            self.assertEqual(10, len(set(listed)))
            self.assertEqual([], [name for name in listed if name.replace(".", "/") + ".class" not in self.files])

    def test_classes_run_on_java_11(self):
        for name in self.files:
            if name.endswith(".class"):
                magic, _, major = struct.unpack(">IHH", self.archive.read(name)[:8])
                self.assertEqual(0xCAFEBABE, magic, name)
                self.assertLessEqual(major, JAVA_11, name)

    def test_version_and_build_id(self):
        properties = dict(line.split("=", 1) for line in self.archive.read("dwell/build.properties").decode().split())
        self.assertEqual({"version": VERSION, "buildId": BUILD_ID, "scala": self.SCALA}, properties)
        manifest = self.archive.read("META-INF/MANIFEST.MF").decode().replace("\r\n ", "")
        self.assertIn("Implementation-Version: %s\r\n" % VERSION, manifest)
        self.assertIn("Dwell-Build-Id: %s\r\n" % BUILD_ID, manifest)
        for name in libraries(self.archive).values():
            self.assertIn(BUILD_ID.encode(), self.archive.read(name), name)

    def test_each_library_has_its_sha256(self):
        for name in libraries(self.archive).values():
            self.assertEqual(hashlib.sha256(self.archive.read(name)).hexdigest(), self.archive.read(name + ".sha256").decode(), name)

    def test_no_time_of_building(self):
        self.assertEqual(1, len({entry.date_time for entry in self.archive.infolist()}))

    def test_no_place_of_building(self):
        places = [str(ROOT).encode(), str(pathlib.Path.home()).encode() + b"/"]
        for name in list(libraries(self.archive).values()) + [name for name in self.files if name.endswith(".class")]:
            content = self.archive.read(name)
            self.assertEqual([], [place for place in places if place in content], name)


class ContentsForScala212(Contents):
    """The entries of the other jar."""

    SCALA = "2.12"


class Library:
    """A native library, by readelf."""

    PLATFORM = MACHINE = None
    # The largest page that Linux has on the machine, in bytes.
    PAGE = None

    @classmethod
    def setUpClass(cls):
        if cls.PLATFORM not in LIBRARIES:
            raise unittest.SkipTest("the build has made none")
        with tempfile.NamedTemporaryFile(suffix=".so") as file, zipfile.ZipFile(JAR) as archive:
            file.write(archive.read(libraries(archive)[cls.PLATFORM]))
            file.flush()
            cls.header = cls.readelf("--file-header", file.name)
            cls.dynamic = cls.readelf("--dynamic", file.name)
            cls.versions = cls.readelf("--version-info", file.name)
            cls.symbols = cls.readelf("--dyn-syms", file.name)
            cls.segments = cls.readelf("--segments", file.name)

    @staticmethod
    def readelf(option, path):
        return subprocess.run(["readelf", "--wide", option, path], check=True, stdout=subprocess.PIPE, text=True).stdout

    def test_is_for_its_machine(self):
        self.assertRegex(self.header, r"Machine: +%s\n" % self.MACHINE)

    def test_every_page_size_can_map_it(self):
        alignments = re.findall(r"^ +LOAD .* (0x[0-9a-f]+)$", self.segments, re.MULTILINE)
        self.assertTrue(alignments)
        self.assertLessEqual(self.PAGE, min(int(alignment, 16) for alignment in alignments))

    @unittest.skipUnless(GLIBC, "linked with the machine's own compiler (-Pzig=false)")
    def test_runs_with_an_old_glibc(self):
        needed = {tuple(int(part) for part in version.split(".")) for version in re.findall(r"GLIBC_([0-9.]+)", self.versions)}
        self.assertTrue(needed)
        self.assertLessEqual(max(needed), tuple(int(part) for part in GLIBC.split(".")))

    def test_needs_only_the_c_library(self):
        allowed = r"(libc|libm|libpthread|libdl|librt)\.so\.\d|ld-linux[-_a-z0-9]*\.so\.\d"
        if not GLIBC:
            allowed += r"|libgcc_s\.so\.1"
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", self.dynamic)
        self.assertTrue(needed)
        self.assertEqual([], [name for name in needed if not re.fullmatch(allowed, name)])

    def test_exports_only_what_java_calls(self):
        rows = [row.split() for row in self.symbols.splitlines()]
        exported = [row[7].split("@")[0] for row in rows if len(row) >= 8 and row[4] in ("GLOBAL", "WEAK") and row[6] != "UND"]
        # The library registers the methods of NativeBridge when it is loaded; the JVM does not find them by name.
        self.assertEqual(["JNI_OnLoad"], exported)

    def test_stack_is_not_executable(self):
        flags = re.search(r"GNU_STACK\s+\S+\s+\S+\s+\S+\s+\S+\s+\S+\s+(\w+)", self.segments)
        self.assertIsNotNone(flags)
        self.assertNotIn("E", flags.group(1))


class LibraryForX86(Library, unittest.TestCase):
    PLATFORM, MACHINE, PAGE = "linux/x86_64", "Advanced Micro Devices X86-64", 4096


class LibraryForArm64(Library, unittest.TestCase):
    PLATFORM, MACHINE, PAGE = "linux/aarch64", "AArch64", 65536


if __name__ == "__main__":
    unittest.main()
