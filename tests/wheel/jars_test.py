"""The user's own jars stay in the session, with driver and executors, beside Dwell's."""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import package_test
import dwell
from pyspark import SparkContext
from pyspark.sql import SparkSession

JAVA = """package user;
public class %s implements org.apache.spark.sql.api.java.UDF1<Integer, Integer> {
    public Integer call(Integer x) { return x + 1; }
}
"""

#: Calls a function of each class of the user's in tasks, and has a model trained by native code in others.
USE = """
import sys
from pyspark.ml.linalg import Vectors
from pyspark.ml.regression import LinearRegression
spark.sparkContext.setLogLevel("ERROR")
for name in NAMES:
    spark.udf.registerJavaFunction("of" + name, "user." + name, "int")
    assert spark.range(4).selectExpr("sum(of%s(int(id)))" % name).first()[0] == 10
data = spark.createDataFrame([(float(i), Vectors.dense(i, i % 3)) for i in range(20)], ["label", "features"])
model = LinearRegression(regParam=0.1).fit(data)
print(spark._jvm.dwell.report.FitReport.of(model._java_obj).solver())
jars = spark.sparkContext._jsc.sc().listJars()
print(" ".join(sorted(jars.apply(i).split("/")[-1] for i in range(jars.size()))))
"""

SESSION = "SparkSession.builder.master('local-cluster[1,1,1024]').config('spark.ui.enabled', 'false')%s"


class JarsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp())
        java = os.environ.get("JAVA_HOME")
        javac = str(pathlib.Path(java) / "bin" / "javac") if java else "javac"
        for name in ("First", "Second", "Packaged"):
            source = cls.directory / name / "user" / (name + ".java")
            source.parent.mkdir(parents=True)
            source.write_text(JAVA % name)
            subprocess.run([javac, "-proc:none", "-cp", "%s/jars/*" % package_test.SPARK, str(source)], check=True, capture_output=True)
            source.unlink()
            shutil.make_archive(str(cls.directory / name), "zip", cls.directory / name)
            (cls.directory / (name + ".zip")).rename(cls.directory / (name + ".jar"))
        # Ivy's local repository.
        release = cls.directory / "ivy" / "local" / "user" / "packaged" / "1.0"
        (release / "jars").mkdir(parents=True)
        (release / "ivys").mkdir()
        shutil.copy(cls.directory / "Packaged.jar", release / "jars" / "packaged.jar")
        (release / "ivys" / "ivy.xml").write_text(
            '<ivy-module version="2.0"><info organisation="user" module="packaged" revision="1.0"/>'
            '<publications><artifact name="packaged" type="jar" ext="jar"/></publications></ivy-module>'
        )
        (cls.directory / "conf").mkdir()
        (cls.directory / "conf" / "spark-defaults.conf").write_text("spark.jars  %s\n" % cls.path("First"))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.directory)

    @classmethod
    def path(cls, name):
        return str(cls.directory / (name + ".jar"))

    def packages(self):
        return "--conf spark.jars.ivy=%s/ivy --packages user:packaged:1.0" % self.directory

    def used(self, code, names, switch=(), **environment):
        """Runs code that makes a session, and uses the user's classes there."""
        program = self.directory / "program.py"
        program.write_text("from pyspark.sql import SparkSession\n%s\nNAMES = %r\n%s" % (code, names, USE))
        environment = {"PYTHONPATH": os.pathsep.join(package_test.PATHS), "PYSPARK_PYTHON": sys.executable, **environment}
        done = subprocess.run(
            [sys.executable, *switch, str(program)], env={**os.environ, **environment}, text=True, capture_output=True, cwd=self.directory
        )
        self.assertEqual(done.returncode, 0, done.stderr[done.stderr.find("Traceback"):][:3000])
        solver, jars = done.stdout.strip().splitlines()[-2:]
        self.assertEqual(solver, "native")
        files = [{"Packaged": "user_packaged-1.0"}.get(name, name) + ".jar" for name in names]
        self.assertEqual(jars.split(), sorted(files + [pathlib.Path(dwell.jar()).name]))

    def test_defaults_and_packages_of_the_builder(self):
        builder = SESSION % (".config('spark.jars.ivy', '%s/ivy').config('spark.jars.packages', 'user:packaged:1.0')" % self.directory)
        code = "import dwell\nspark = dwell.configure(%s).getOrCreate()\ndwell.accelerate()" % builder
        self.used(code, ["First", "Packaged"], SPARK_CONF_DIR=str(self.directory / "conf"))

    def test_builder_and_submit_arguments(self):
        self.all_together("import dwell\nspark = dwell.configure(%s).getOrCreate()\ndwell.accelerate()")

    def test_builder_and_submit_arguments_of_a_program_that_knows_pyspark_alone(self):
        self.all_together("spark = %s.getOrCreate()", switch=("-m", "dwell"))

    def all_together(self, code, switch=()):
        builder = SESSION % (".config('spark.jars', '%s')" % self.path("First"))
        submit = "--jars %s %s pyspark-shell" % (self.path("Second"), self.packages())
        self.used(code % builder, ["First", "Second", "Packaged"], switch, PYSPARK_SUBMIT_ARGS=submit)

    def jars(self, options=(), submit=None, running=False, **environment):
        """The arguments of spark-submit with dwell.configure, and the builder's jars."""
        environment.update({} if submit is None else {"PYSPARK_SUBMIT_ARGS": submit})
        builder = SparkSession.Builder()
        builder._options = dict(options)
        with mock.patch.dict(os.environ, environment), mock.patch.object(SparkContext, "_gateway", mock.Mock() if running else None):
            if submit is None:
                os.environ.pop("PYSPARK_SUBMIT_ARGS", None)
            os.environ.pop("PYSPARK_GATEWAY_PORT", None)
            builder.getOrCreate = lambda: shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
            with mock.patch.object(SparkSession, "getActiveSession", return_value=None):
                # Twice is as once.
                words = dwell.configure(dwell.configure(builder)).getOrCreate()
            self.assertEqual(os.environ.get("PYSPARK_SUBMIT_ARGS"), submit, "programs that are started inherit it")
        return words, builder._options.get("spark.jars")

    def test_which_jars_a_session_starts_with(self):
        own = dwell.jar()
        empty, named = self.directory / "empty", self.directory / "conf"
        empty.mkdir()
        self.assertEqual(self.jars(SPARK_CONF_DIR=str(empty)), (["--jars", own, "pyspark-shell"], None))
        self.assertEqual(self.jars(SPARK_CONF_DIR=str(named))[0][1], "%s,%s" % (self.path("First"), own))
        # What replaces what is Spark's: the builder the defaults, and --jars --conf.
        self.assertEqual(self.jars({"spark.jars": "/b.jar"}, SPARK_CONF_DIR=str(named)), (["--jars", "/b.jar," + own, "pyspark-shell"], None))
        submit = "--conf spark.jars=/c.jar --name 'a b' pyspark-shell"
        rest = ["--conf", "spark.jars=/c.jar", "--name", "a b", "pyspark-shell"]
        self.assertEqual(self.jars(submit=submit, SPARK_CONF_DIR=str(named))[0], ["--jars", "/c.jar," + own, *rest])
        self.assertEqual(self.jars({"spark.jars": "/b.jar"}, "--jars=/j.jar " + submit)[0], ["--jars", "/j.jar,/b.jar," + own, *rest])
        (empty / "own.conf").write_text("# spark.jars=/no.jar\nspark.jarsmore=/no.jar\n spark.jars = /p\\ 1.jar,\\\n   /p2.jar \nspark.app.name=a\n")
        self.assertEqual(self.jars(submit="--properties-file %s/own.conf pyspark-shell" % empty)[0][1], "/p 1.jar,/p2.jar," + own)

    def test_a_jvm_that_runs_has_its_jars(self):
        own = dwell.jar()
        self.assertEqual(self.jars(running=True), ([], None))
        self.assertEqual(self.jars({"spark.jars": "/b.jar"}, "--jars /j.jar pyspark-shell", running=True), (["--jars", "/j.jar", "pyspark-shell"], "/b.jar," + own))


if __name__ == "__main__":
    unittest.main()
