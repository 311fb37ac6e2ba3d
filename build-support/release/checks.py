"""What a Maven repository and a Python index refuse, found before the upload."""

import email.parser
import hashlib
import tarfile
import xml.etree.ElementTree
import zipfile

import maven

POM_PATHS = ["groupId", "artifactId", "version", "name", "description", "url", "licenses/license/name", "licenses/license/url",
             "developers/developer/name", "scm/connection", "scm/developerConnection", "scm/url"]
ENDINGS = [".jar", "-sources.jar", "-javadoc.jar", ".pom", "-cyclonedx.json"]
LICENCE_FILES = ["LICENSE", "NOTICE", "THIRD-PARTY"]
# Of Metadata 2.4, what a page of an index is made of.
PYTHON_FIELDS = ["Metadata-Version", "Name", "Version", "Summary", "Author", "License-Expression", "Requires-Python", "Description-Content-Type"]


def maven_problems(folder, artifact, version, signed):
    """What is missing or wrong in the folder of an artifact."""
    for ending in ENDINGS:
        file = folder / ("%s-%s%s" % (artifact, version, ending))
        if not file.is_file():
            yield "%s is missing" % file.name
            continue
        for name in maven.CHECKSUMS:
            beside = file.with_name("%s.%s" % (file.name, name))
            if not beside.is_file() or beside.read_text("ascii") != hashlib.new(name, file.read_bytes()).hexdigest():
                yield "%s is missing or wrong" % beside.name
        if signed and not file.with_name(file.name + ".asc").is_file():
            yield "%s has no signature" % file.name
        if file.suffix == ".jar":
            yield from jar_problems(file)
    yield from pom_problems(folder / ("%s-%s.pom" % (artifact, version)))


def jar_problems(file):
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
    if not any(not name.startswith("META-INF/") for name in names):
        yield "%s is empty" % file.name
    yield from ("%s lacks META-INF/%s" % (file.name, name) for name in LICENCE_FILES if "META-INF/" + name not in names)


def pom_problems(file):
    project = xml.etree.ElementTree.parse(file).getroot()
    for path in POM_PATHS:
        if not (project.findtext("/".join("{*}" + name for name in path.split("/"))) or "").strip():
            yield "%s has no %s" % (file.name, path)
    yield from ("%s needs %s" % (file.name, needed.findtext("{*}artifactId")) for needed in project.iterfind(".//{*}dependency")
                if needed.findtext("{*}scope") != "provided")


def python_problems(folder):
    """What is missing or wrong in a folder with a wheel and a source distribution."""
    wheels, sources = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if (len(wheels), len(sources)) != (1, 1):
        yield "%s has %d wheels and %d source distributions" % (folder, len(wheels), len(sources))
        return
    with zipfile.ZipFile(wheels[0]) as archive:
        names = archive.namelist()
        where = next(name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(where).decode("utf-8")
    yield from metadata_problems(wheels[0].name, metadata)
    yield from ("%s lacks %s" % (wheels[0].name, name) for name in LICENCE_FILES if where.replace("METADATA", "licenses/" + name) not in names)
    with tarfile.open(sources[0]) as archive:
        top = sources[0].name[: -len(".tar.gz")]
        names = archive.getnames()
        own = archive.extractfile("%s/PKG-INFO" % top).read().decode("utf-8")
    if own != metadata:
        yield "%s and %s say different things" % (sources[0].name, wheels[0].name)
    yield from ("%s lacks %s" % (sources[0].name, name) for name in LICENCE_FILES + ["pyproject.toml"] if "%s/%s" % (top, name) not in names)


def metadata_problems(name, metadata):
    message = email.parser.Parser().parsestr(metadata)
    yield from ("%s has no %s" % (name, field) for field in PYTHON_FIELDS if not message.get(field, "").strip())
    if not message.get_payload().strip():
        yield "%s has no description" % name
    if message.get("License") is not None or any(line.startswith("License ::") for line in message.get_all("Classifier", [])):
        yield "%s has a licence in an old field beside License-Expression" % name
    yield from ("%s: License-File %s" % (name, file) for file in LICENCE_FILES if file not in message.get_all("License-File", []))
