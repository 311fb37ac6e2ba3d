"""The values that the build passes to these tests: the published jar and how it was built."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
JAR = pathlib.Path(os.environ["DWELL_JAR"])
VERSION = os.environ["DWELL_VERSION"]
BUILD_ID = os.environ["DWELL_BUILD_ID"]
# The newest glibc that the library may need; empty if the machine's own compiler linked it.
GLIBC = os.environ["DWELL_GLIBC"]
TASKS = set(os.environ["DWELL_TASKS"].split())
JAVA = str(pathlib.Path(os.environ["JAVA_HOME"]) / "bin" / "java")


def library(archive):
    """The only entry of the jar that is a native library."""
    names = [name for name in archive.namelist() if name.startswith("native/") and not name.endswith(("/", ".sha256"))]
    if len(names) != 1:
        raise AssertionError("expected one native library in the jar, found %s" % names)
    return names[0]


def native_info(jar, directory, *options, wrapper=()):
    """Runs the diagnosis with only the jar in `directory`, which is also the home and the place of temporary files."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "PWD": str(directory)}
    command = [*wrapper, JAVA, "-Djava.io.tmpdir=%s" % directory, "-Duser.home=%s" % directory, *options, "-cp", str(jar),
               "dwell.jni.NativeInfo"]
    return subprocess.run(command, cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
