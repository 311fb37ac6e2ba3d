"""Applications as the standalone manager runs them: where the driver is, how the jar gets there, executors that come and go.

DWELL_JAR is the jar that is published, DWELL_VERSION its version; manager.py says what else the environment has.
"""

import os
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "build-support" / "release"))

import manager  # noqa: E402  (the path has to be set first)
import maven  # noqa: E402

JAR = pathlib.Path(os.environ["DWELL_JAR"])
PROJECT = {"group": "test", "version": os.environ["DWELL_VERSION"], "url": "https://example.org", "developer": "test"}
ARTIFACT = "dwell_2.13"

# What spark-submit looks for packages in beside the repositories that it is told: nothing.
NO_REPOSITORIES = '<ivysettings><settings defaultResolver="none"/><resolvers><chain name="none"/></resolvers></ivysettings>'

TRAINED = re.compile(r"^trained by (\w+) in (\w+) mode, driver on (\S+), (\d+) executors$", re.MULTILINE)


def with_jar_installed(directory):
    """A distribution of links, with the jar among those of Spark."""
    home = directory / "spark"
    (home / "jars").mkdir(parents=True)
    for part in manager.SPARK.iterdir():
        if part.name != "jars":
            (home / part.name).symlink_to(part)
    for jar in [*(manager.SPARK / "jars").iterdir(), JAR]:
        (home / "jars" / jar.name).symlink_to(jar)
    return home


def packages(directory):
    """Options that name the jar as a package of a repository on this machine, with the POM that is published."""
    pom = maven.pom(PROJECT, ARTIFACT, "2.13", [["org.apache.spark", "spark-mllib_2.13", "3.5.6"]])
    maven.lay_out(directory / "repository", PROJECT, ARTIFACT, {".pom": pom, ".jar": JAR})
    settings = directory / "ivysettings.xml"
    settings.write_text(NO_REPOSITORIES, "utf-8")
    return ["--packages", "%s:%s:%s" % (PROJECT["group"], ARTIFACT, PROJECT["version"]), "--repositories", (directory / "repository").as_uri(),
            "--conf", "spark.jars.ivySettings=%s" % settings, "--conf", "spark.jars.ivy=%s" % (directory / "ivy")]


class JarsTest(unittest.TestCase):
    """A fit on a cluster, wherever the jar comes from."""

    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def cluster(self, home=manager.SPARK):
        return self.enterContext(manager.running(home))

    def check(self, output, mode):
        self.assertIn("LinearRegression", output)
        trained = TRAINED.search(output)
        self.assertIsNotNone(trained, output)
        solver, mode_of_driver, host, executors = trained.groups()
        self.assertEqual(("native", mode, "2"), (solver, mode_of_driver, executors), output)
        self.assertEqual(mode == "cluster", host in manager.standalone.WORKERS, host)

    def check_in_client_mode(self, cluster, options):
        self.check(cluster.in_client_mode(options), "client")

    def check_in_cluster_mode(self, cluster, options):
        self.check(cluster.in_cluster_mode(options), "cluster")

    def test_the_jar_that_the_application_brings_in_client_mode(self):
        self.check_in_client_mode(self.cluster(), ["--jars", str(JAR)])

    def test_the_jar_that_the_application_brings_in_cluster_mode(self):
        self.check_in_cluster_mode(self.cluster(), ["--jars", str(JAR)])

    def test_a_package_of_a_maven_repository_in_client_mode(self):
        self.check_in_client_mode(self.cluster(), packages(self.directory))

    def test_the_jar_among_those_of_spark_in_client_mode(self):
        self.check_in_client_mode(self.cluster(with_jar_installed(self.directory)), [])

    def test_the_jar_among_those_of_spark_in_cluster_mode(self):
        self.check_in_cluster_mode(self.cluster(with_jar_installed(self.directory)), [])


class AllocationTest(unittest.TestCase):
    def test_executors_come_and_go_beside_a_shuffle_service(self):
        port = manager.free_port()
        settings = {"shuffle.service.enabled": "true", "shuffle.service.port": port, "dynamicAllocation.enabled": "true",
                    "dynamicAllocation.executorIdleTimeout": "1s", "executor.cores": 1, "log.level": "WARN"}
        options = ["--jars", str(JAR)] + [word for name, value in settings.items() for word in ("--conf", "spark.%s=%s" % (name, value))]
        service = ["-Dspark.shuffle.service.enabled=true", "-Dspark.shuffle.service.port=%d" % port]
        # A worker's service takes its port at every address, so there is one worker, which has two executors.
        with manager.running(manager.SPARK, *service, workers=manager.standalone.WORKERS[:1]) as cluster:
            output = cluster.in_client_mode(options, ["allocation"])
        self.assertRegex(output, r"(?m)^2 passed, 0 failed$")


if __name__ == "__main__":
    unittest.main()
