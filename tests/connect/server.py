"""A server of Spark Connect in a process of its own, and clients of it in others.

SPARK_HOME is the server's distribution, DWELL_WHEEL the folder of the wheel. The Python that runs this has pyspark-client, which is the client
unless DWELL_CLIENT is `distribution`: then it is the pyspark of the server's distribution.
"""

import atexit
import contextlib
import functools
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A group of tests sees a folder of links.
SPARK = (pathlib.Path(os.environ["SPARK_HOME"]) / "jars").resolve().parent
(WHEEL,) = pathlib.Path(os.environ["DWELL_WHEEL"]).glob("*.whl")
INSTALLED = tempfile.mkdtemp()
atexit.register(shutil.rmtree, INSTALLED)
pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
subprocess.run(pip + ["--target", INSTALLED, str(WHEEL)], check=True)
PYSPARK = [str(SPARK.parent)] if os.environ.get("DWELL_CLIENT") == "distribution" else []
sys.path[:0] = [INSTALLED, *PYSPARK]

#: Of the server.
VERSION = tuple(map(int, next((SPARK / "jars").glob("spark-connect_2.13-*.jar")).stem.split("-")[-1].split(".")))
COMMAND = ["spark-submit", "--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]

# Seconds for a server to come up, and to end when it is asked to.
PATIENCE, GRACE = 90, 20


@contextlib.contextmanager
def running(command, **conf):
    """Runs a command that starts a server, in a folder with a link to the build. Gives the address of the server.

    The port is one that is free now. Settings of `conf` have `_` for a dot.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as scratch:
        directory = pathlib.Path(scratch)
        (directory / "build").symlink_to(ROOT / "build")
        settings = {"spark_master": "local[2]", "spark_ui_enabled": "false", "spark_connect_grpc_binding_port": port, "spark_driver_memory": "1g",
                    "spark_driver_extraJavaOptions": "-Djava.io.tmpdir=%s -XX:TieredStopAtLevel=1 -XX:+UseSerialGC" % directory, **conf}
        (directory / "spark-defaults.conf").write_text("".join("%s %s\n" % (name.replace("_", "."), value) for name, value in settings.items()))
        environment = {**os.environ, "SPARK_HOME": str(SPARK), "SPARK_CONF_DIR": scratch, "SPARK_LOCAL_IP": "127.0.0.1",
                       "PATH": os.pathsep.join([str(SPARK / "bin"), os.environ["PATH"]])}
        with (directory / "log").open("w+") as log:
            process = subprocess.Popen(command, env=environment, cwd=directory, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                until = time.monotonic() + PATIENCE
                while not listens(port):
                    if process.poll() is not None or time.monotonic() > until:
                        raise AssertionError("no server:\n" + (directory / "log").read_text()[-3000:])
                    time.sleep(0.1)
                yield "sc://localhost:%d" % port
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
                try:
                    process.wait(GRACE)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)


@functools.lru_cache
def shared():
    """The address of a server with the jar, which runs until this process ends."""
    import dwell

    kept = contextlib.ExitStack()
    atexit.register(kept.close)
    return kept.enter_context(running([*COMMAND, "--jars", dwell.jar()]))


def listens(port):
    with socket.socket() as other:
        return other.connect_ex(("127.0.0.1", port)) == 0


#: What clients train on: two classes, three classes and numbers.
DATA = """
from pyspark.ml.linalg import Vectors
rows = [(float(i % 2), float(i % 3), float(i), Vectors.dense(i % 2 + 0.1 * (i % 5), i % 7, (i * i) % 11)) for i in range(300)]
data = spark.createDataFrame(rows, ["label", "three", "number", "features"])
"""


def client(url, code, dwell=True):
    """The output of a client of its own, with `spark` and `data`; `dwell`: whether it has the wheel."""
    path = os.pathsep.join([INSTALLED] * dwell + PYSPARK)
    start = "from pyspark.sql import SparkSession\nspark = SparkSession.builder.remote(%r).getOrCreate()\n" % url
    return python("-c", start + DATA + code, PYTHONPATH=path)


def python(*arguments, **environment):
    """The output of a Python of its own, which must succeed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([INSTALLED, *PYSPARK]), **environment}
    done = subprocess.run([sys.executable, *arguments], env=environment, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.strip()
