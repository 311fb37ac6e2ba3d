"""A standalone cluster to which applications are submitted in client mode and in cluster mode.

SPARK_HOME is a Spark distribution, and DWELL_APPLICATION the jar of the cluster tests.
"""

import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))

import standalone  # noqa: E402  (the path has to be set first)

# A group of tests sees a folder of links.
SPARK = (pathlib.Path(os.environ["SPARK_HOME"]) / "jars").resolve().parent
APPLICATION = os.environ["DWELL_APPLICATION"]

# Seconds that an application may take.
PATIENCE = 240

# JVMs that live for seconds.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def free_port():
    with socket.socket() as free:
        free.bind(("", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def running(home, *options, **settings):
    """A cluster of the distribution in `home`, whose daemons have Java's options; its processes end with the block.

    `settings`: those of standalone.Cluster.
    """
    # The server puts the master's port where the configured one is in the URL, which therefore is not 0.
    rest = free_port()
    daemon_options = ["-Dspark.master.rest.enabled=true", "-Dspark.master.rest.port=%d" % rest, *options]
    with standalone.running(home / "bin" / "spark-submit", daemon_options=daemon_options, **settings) as (cluster, url):
        yield Manager(cluster, url, "%s:%d" % (standalone.MASTER, rest))


class Manager:
    """Submits applications to a cluster. `url` and `rest`: where the master takes them, itself and by its REST server."""

    def __init__(self, cluster, url, rest):
        self.cluster = cluster
        self.url = url
        self.rest = rest

    def submit(self, master, options, arguments, host):
        command = [str(self.cluster.home / "bin" / "spark-submit"), "--master", master, "--class", "dwell.cluster.Managed",
                   "--conf", "spark.ui.enabled=false", "--driver-java-options", QUICK, "--conf", "spark.executor.extraJavaOptions=" + QUICK,
                   *options, APPLICATION, *arguments]
        log = self.cluster.directory / "submit.log"
        with open(log, "wb") as output:
            process = self.cluster.launch(command, host, stdout=output, stderr=subprocess.STDOUT)
        try:
            failed = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            failed = True
        told = log.read_text("utf-8")
        if failed:
            raise AssertionError(told)
        return told

    def in_client_mode(self, options, arguments=("fit",)):
        """The output of an application whose driver is spark-submit's process."""
        return self.submit(self.url, options, arguments, {"SPARK_LOCAL_IP": standalone.MASTER})

    def in_cluster_mode(self, options, arguments=("fit",)):
        """The output of an application whose driver runs on a worker, from the worker's folder."""
        options = ["--deploy-mode", "cluster", "--conf", "spark.master.rest.enabled=true", *options]
        told = self.submit("spark://" + self.rest, options, arguments, {})
        drivers = set(re.findall(r"driver-\d+-\d+", told))
        if len(drivers) != 1:
            raise AssertionError("no driver:\n" + told)
        (driver,) = drivers
        end = time.monotonic() + PATIENCE
        while self.state(driver) in ("SUBMITTED", "RUNNING") and time.monotonic() < end:
            time.sleep(0.2)
        state, logs = self.state(driver), self.cluster.directory / "work" / driver
        written = {name: (logs / name).read_text("utf-8") if (logs / name).exists() else "" for name in ("stdout", "stderr")}
        if state != "FINISHED":
            raise AssertionError("%s is %s\n%s\n%s\n%s" % (driver, state, told, written["stdout"], written["stderr"]))
        return written["stdout"]

    def state(self, driver):
        with urllib.request.urlopen("http://%s/v1/submissions/status/%s" % (self.rest, driver)) as answer:
            return json.load(answer)["driverState"]
