#!/usr/bin/env python3
"""Run spark-submit on a standalone cluster of its own: a master and two workers as processes of this machine.

    standalone.py [--cores N] [--timeout SECONDS] [--second-java JAVA] SPARK_SUBMIT ARGUMENT...

As a module it has `running`, for programs that are submitted in other ways.

The workers have two loopback addresses, so that Spark takes them for two hosts: it runs a speculative copy only on
another host. Each worker gives an application one executor with all of its cores, and a new one whenever that is
lost. With --second-java, those of the second worker run by that program in the place of java.

Output and exit status are those of spark-submit. At the end, a guard in a session of its own stops the processes and
removes their files, however this script ends.
"""

import argparse
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MASTER = "127.0.0.1"
WORKERS = ["127.0.0.2", "127.0.0.3"]

# An executor has 1 GiB unless an application asks for more. So has a driver that runs on a worker.
WORKER_MEMORY = "2g"

# Seconds for the master to come up, and the workers to register.
PATIENCE = 60

# Seconds that processes get to end when asked to.
GRACE = 5

# In the place of java: {other} for executors, and {own} for workers.
TWO_JAVAS = """\
#!/bin/sh
case "$*" in
  *CoarseGrainedExecutorBackend*) exec '{other}' "$@" ;;
  *) exec '{own}' "$@" ;;
esac
"""


class Cluster:
    """A master, its workers, and the programs submitted to them."""

    def __init__(self, submit, directory, keeper, cores=2, second_java=None, workers=WORKERS, daemon_options=()):
        # A distribution may be a folder of links.
        self.home = pathlib.Path(submit).absolute().parent.parent
        self.directory = directory
        self.cores = cores
        self.workers = workers
        self.second_java = second_java
        self.keeper = keeper
        self.processes = []
        configuration = directory / "conf"
        configuration.mkdir()
        # Ignores the machine's own configuration: the script reads the log below.
        self.environment = dict(os.environ, SPARK_HOME=str(self.home), SPARK_CONF_DIR=str(configuration),
                                SPARK_LOCAL_DIRS=str(directory / "local"), SPARK_DAEMON_MEMORY="256m",
                                SPARK_DAEMON_JAVA_OPTS=" ".join(["-Dspark.deploy.maxExecutorRetries=-1", "-XX:TieredStopAtLevel=1",
                                                                        *daemon_options]))

    def start(self):
        """Starts master and workers; returns the master's URL."""
        log = self.daemon("master", "Master", MASTER, ["--host", MASTER, "--port", "0", "--webui-port", "0"])
        url = self.wait_for(log, r"Starting Spark master at (spark://\S+)", 1)[0]
        for host in self.workers:
            java_home = self.two_javas() if self.second_java and host == self.workers[1] else None
            self.daemon(host, "Worker", host, ["--host", host, "--port", "0", "--webui-port", "0", "--cores", str(self.cores),
                                               "--memory", WORKER_MEMORY, "--work-dir", str(self.directory / "work"), url], java_home)
        self.wait_for(log, r"Registering worker (\S+)", len(self.workers))
        return url

    def two_javas(self):
        """A JAVA_HOME by which a worker and its executors run by two Javas."""
        java = self.directory / "java" / "bin" / "java"
        java.parent.mkdir(parents=True)
        java.write_text(TWO_JAVAS.format(other=self.second_java, own=pathlib.Path(os.environ["JAVA_HOME"]) / "bin" / "java"))
        java.chmod(0o755)
        return str(java.parent.parent)

    def daemon(self, name, role, host, arguments, java_home=None):
        log = self.directory / (name + ".log")
        command = [str(self.home / "bin" / "spark-class"), "org.apache.spark.deploy.%s.%s" % (role.lower(), role)]
        with open(log, "wb") as output:
            self.launch(command + arguments, {"SPARK_LOCAL_IP": host, **({"JAVA_HOME": java_home} if java_home else {})},
                        stdout=output, stderr=subprocess.STDOUT)
        return log

    def launch(self, command, environment, **streams):
        """Starts a process in the group of the first one, and tells the guard which group that is."""
        group = self.processes[0].pid if self.processes else 0
        process = subprocess.Popen(command, env=dict(self.environment, **environment), stdin=subprocess.DEVNULL,
                                   process_group=group, **streams)
        if not self.processes:
            self.keeper.write(b"%d\n" % process.pid)
            self.keeper.flush()
        self.processes.append(process)
        return process

    def wait_for(self, log, pattern, count):
        end = time.monotonic() + PATIENCE
        while True:
            text = log.read_text("utf-8", "replace")
            found = re.findall(pattern, text)
            if len(found) >= count:
                return found
            if time.monotonic() > end or any(process.poll() is not None for process in self.processes):
                sys.exit("no cluster: %d of %d lines like '%s' in\n%s" % (len(found), count, pattern, text))
            time.sleep(0.05)


def guard(directory):
    """Waits for the end of standard input, whose first line names a process group, and ends that group."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    group = sys.stdin.readline().strip()
    sys.stdin.read()
    if group:
        end = time.monotonic() + GRACE
        try:
            os.killpg(int(group), signal.SIGTERM)
            while time.monotonic() < end:
                os.killpg(int(group), 0)
                time.sleep(0.05)
            os.killpg(int(group), signal.SIGKILL)
        except ProcessLookupError:
            pass
    shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def running(submit, **settings):
    """A cluster and its master's URL. The processes end with the block."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="dwell-standalone-"))
    keeper = subprocess.Popen([sys.executable, __file__, "--guard", str(directory)], stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, start_new_session=True)
    cluster = Cluster(submit, directory, keeper.stdin, **settings)
    try:
        with keeper.stdin:
            yield cluster, cluster.start()
    finally:
        # A process that nothing waits for still counts as a member of the group for the guard.
        for process in cluster.processes:
            process.wait()
        keeper.wait()


def run(arguments):
    """Runs spark-submit on a new cluster; returns the exit status."""
    with running(arguments.submit, cores=arguments.cores, second_java=arguments.second_java) as (cluster, url):
        submitted = cluster.launch([arguments.submit, "--master", url, "--conf", "spark.driver.host=" + MASTER] +
                                   arguments.rest, {"SPARK_LOCAL_IP": MASTER})
        try:
            return submitted.wait(arguments.timeout)
        except subprocess.TimeoutExpired:
            print("standalone.py: stopped after %g s" % arguments.timeout, flush=True)
            return 1


def main():
    if sys.argv[1:2] == ["--guard"]:
        return guard(pathlib.Path(sys.argv[2]))
    parser = argparse.ArgumentParser()
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=900)
    parser.add_argument("--second-java")
    parser.add_argument("submit")
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    for stopped in signal.SIGTERM, signal.SIGINT:
        signal.signal(stopped, lambda number, _: sys.exit(128 + number))
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
