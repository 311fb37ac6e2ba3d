"""The values that the build passes to these tests: the published jar and how it was built."""

import os
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
JAR = pathlib.Path(os.environ["DWELL_JAR"])
VERSION = os.environ["DWELL_VERSION"]
BUILD_ID = os.environ["DWELL_BUILD_ID"]
# The newest glibc that the library may need; empty if the machine's own compiler linked it.
GLIBC = os.environ["DWELL_GLIBC"]
# The platforms that the build has built libraries for, as os/arch.
LIBRARIES = set(os.environ["DWELL_LIBRARIES"].split())
TASKS = set(os.environ["DWELL_TASKS"].split())
JAVA = str(pathlib.Path(os.environ["JAVA_HOME"]) / "bin" / "java")


def libraries(archive):
    """The entries of the jar that are native libraries, by platform."""
    names = [name for name in archive.namelist() if name.startswith("native/") and not name.endswith(("/", ".sha256"))]
    found = {"/".join(name.split("/")[1:3]): name for name in names}
    if set(found) != LIBRARIES or len(found) != len(names):
        raise AssertionError("expected native libraries for %s in the jar, found %s" % (LIBRARIES, names))
    return found


def library(archive):
    """The native library for this machine."""
    arch = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    return libraries(archive)["%s/%s" % (platform.system().lower(), arch)]


def native_info(jar, directory, *options, wrapper=()):
    """Runs the diagnosis with only the jar in `directory`, which is also the home and the place of temporary files."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "PWD": str(directory)}
    command = [*wrapper, JAVA, "-Djava.io.tmpdir=%s" % directory, "-Duser.home=%s" % directory, *options, "-cp", str(jar),
               "dwell.jni.NativeInfo"]
    return subprocess.run(command, cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
