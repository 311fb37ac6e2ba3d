"""Artifacts in the layout of a Maven repository, with POM, checksums and, where there is a key, signatures."""

import hashlib
import shutil
import subprocess
import xml.sax.saxutils
import zipfile

CHECKSUMS = ["md5", "sha1", "sha256", "sha512"]
# What zip files say of every entry: 1980-02-01, the time that Gradle's archives have.
TIME = (1980, 2, 1, 0, 0, 0)
POM = """\
<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://maven.apache.org/POM/4.0.0 http://maven.apache.org/xsd/maven-4.0.0.xsd">
  <modelVersion>4.0.0</modelVersion>
  <groupId>{group}</groupId>
  <artifactId>{artifact}</artifactId>
  <version>{version}</version>
  <packaging>jar</packaging>
  <name>{artifact}</name>
  <description>Dwell trains Spark ML models with native code: the linear models and LDA, for Scala {scala}</description>
  <url>{url}</url>
  <licenses>
    <license>
      <name>Apache-2.0</name>
      <url>https://www.apache.org/licenses/LICENSE-2.0.txt</url>
      <distribution>repo</distribution>
    </license>
  </licenses>
  <developers>
    <developer>
      <name>{developer}</name>
      <url>{url}</url>
    </developer>
  </developers>
  <scm>
    <connection>scm:git:{url}.git</connection>
    <developerConnection>scm:git:{url}.git</developerConnection>
    <tag>v{version}</tag>
    <url>{url}</url>
  </scm>
  <dependencies>
{dependencies}  </dependencies>
</project>
"""
DEPENDENCY = """\
    <dependency>
      <groupId>{0}</groupId>
      <artifactId>{1}</artifactId>
      <version>{2}</version>
      <scope>provided</scope>
    </dependency>
"""


def pom(project, artifact, scala, provided):
    """The POM of an artifact. `project` has group, version, url and developer; `provided` has rows of group, name, version."""
    words = {name: xml.sax.saxutils.escape(value) for name, value in project.items()}
    return POM.format(artifact=artifact, scala=scala, dependencies="".join(DEPENDENCY.format(*row) for row in provided), **words)


def lay_out(repository, project, artifact, files, key=None):
    """Puts the files of an artifact into a repository. `files`: the path or the text of each by what follows artifact and version in
    its name, such as `-sources.jar`."""
    folder = repository.joinpath(*project["group"].split("."), artifact, project["version"])
    folder.mkdir(parents=True)
    for ending, content in files.items():
        file = folder / ("%s-%s%s" % (artifact, project["version"], ending))
        if isinstance(content, str):
            file.write_text(content, encoding="utf-8")
        else:
            shutil.copy(content, file)
        if key:
            sign(file, key)
        for name in CHECKSUMS:
            file.with_name("%s.%s" % (file.name, name)).write_text(hashlib.new(name, file.read_bytes()).hexdigest(), encoding="ascii")
    return folder


def sign(file, key):
    """Writes a signature beside a file, by the key of that name in the key ring of gpg."""
    subprocess.run(["gpg", "--batch", "--yes", "--local-user", key, "--armor", "--detach-sign", str(file)], check=True)


def bundle(repository, target):
    """All files of a repository in one archive, for an upload."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path for path in repository.rglob("*") if path.is_file()):
            archive.writestr(zipfile.ZipInfo(file.relative_to(repository).as_posix(), TIME), file.read_bytes(), zipfile.ZIP_DEFLATED)
