"""What `release` puts together: licences, parts, POM, checksums. Sources and Scaladoc are stand-ins here, which `releaseTest` has for real."""

import json
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree
import zipfile

from published import JAR, ROOT, VERSION

sys.path.insert(0, str(ROOT / "build-support" / "release"))
import checks  # noqa: E402
import crates  # noqa: E402
import licences  # noqa: E402
import maven  # noqa: E402
import sbom  # noqa: E402

PROJECT = {"group": "io.github.example", "version": VERSION, "url": "https://example.org/d?a&b", "developer": "Anna & Bert"}
SPARK = [("org.apache.spark", "spark-mllib_2.13", "3.5.6")]


class Licences(unittest.TestCase):
    """The licences of what is linked."""

    maxDiff = None

    def test_the_file_is_what_the_crates_make(self):
        self.assertMultiLineEqual((ROOT / "THIRD-PARTY").read_text("utf-8"), licences.third_party(), "./gradlew thirdParty writes it anew")

    def test_a_choice_needs_one_licence_that_is_allowed(self):
        self.assertTrue(crates.is_allowed("GPL-3.0-only OR MIT"))
        self.assertFalse(crates.is_allowed("MIT AND GPL-3.0-only"))
        self.assertEqual("MIT OR Apache-2.0", crates.expression({"license": "MIT/Apache-2.0"}))
        self.assertFalse(crates.is_allowed(crates.expression({"license": None})))

    def test_the_jar_has_all_texts(self):
        with zipfile.ZipFile(JAR) as archive:
            for name in checks.LICENCE_FILES:
                self.assertEqual((ROOT / name).read_bytes(), archive.read("META-INF/" + name))


class Parts(unittest.TestCase):
    """The list of parts."""

    def test_every_part_has_a_hash_and_every_reference_a_part(self):
        text = sbom.bom("g", "dwell_2.13", VERSION, SPARK)
        self.assertEqual(text, sbom.bom("g", "dwell_2.13", VERSION, SPARK))
        document = json.loads(text)
        parts = {part["bom-ref"]: part for part in document["components"]}
        self.assertEqual(len(parts), len(document["components"]))
        self.assertLessEqual({"faer", "jni", "spark-mllib_2.13"}, {part["name"] for part in parts.values()})
        self.assertEqual(["spark-mllib_2.13"], [part["name"] for part in parts.values() if "hashes" not in part])
        own = document["metadata"]["component"]["bom-ref"]
        edges = {entry["ref"]: entry["dependsOn"] for entry in document["dependencies"]}
        self.assertEqual(set(parts), set(edges[own]))
        self.assertEqual(set(), {end for ends in edges.values() for end in ends} - set(parts))


class Repository(unittest.TestCase):
    """The layout of a Maven repository, with the real jar."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        files = {ending: JAR for ending in checks.ENDINGS if ending.endswith(".jar")}
        files.update({".pom": maven.pom(PROJECT, "dwell_2.13", "2.13", SPARK), "-cyclonedx.json": "{}"})
        self.folder = maven.lay_out(self.directory, PROJECT, "dwell_2.13", files)
        self.name = "dwell_2.13-%s" % VERSION

    def problems(self, signed=False):
        return list(checks.maven_problems(self.folder, "dwell_2.13", VERSION, signed))

    def test_it_has_what_is_asked_for(self):
        self.assertEqual([], self.problems())
        self.assertEqual(self.directory / "io/github/example/dwell_2.13" / VERSION, self.folder)
        self.assertEqual(len(checks.ENDINGS) * (1 + len(maven.CHECKSUMS)), len(list(self.folder.iterdir())))

    def test_the_pom_says_what_was_set_and_needs_nothing_at_run_time(self):
        project = xml.etree.ElementTree.parse(self.folder / (self.name + ".pom")).getroot()
        self.assertEqual((PROJECT["developer"], PROJECT["url"]), (project.findtext(".//{*}developer/{*}name"), project.findtext("{*}url")))
        self.assertEqual(["provided"], [needed.findtext("{*}scope") for needed in project.iterfind(".//{*}dependency")])

    def test_what_is_wrong_is_found(self):
        (self.folder / (self.name + ".jar.sha1")).write_text("0")
        (self.folder / (self.name + "-javadoc.jar")).unlink()
        pom = self.folder / (self.name + ".pom")
        pom.write_text(pom.read_text().replace("provided", "compile").replace("Anna &amp; Bert", " "))
        found = "\n".join(self.problems(signed=True))
        for problem in (".jar.sha1 is missing or wrong", "-javadoc.jar is missing", ".jar has no signature", "no developers/developer/name",
                        "needs spark-mllib_2.13"):
            self.assertIn(problem, found)

    def test_the_bundle_has_every_file_and_is_the_same_again(self):
        bundles = [self.directory.parent / ("%s-%d.zip" % (self.directory.name, number)) for number in range(2)]
        for bundle in bundles:
            self.addCleanup(bundle.unlink)
            maven.bundle(self.directory, bundle)
        self.assertEqual(*[bundle.read_bytes() for bundle in bundles])
        with zipfile.ZipFile(bundles[0]) as archive:
            self.assertEqual(len(list(self.folder.iterdir())), len(archive.namelist()))


if __name__ == "__main__":
    unittest.main()
