package dwell.ml

import scala.util.Random

import org.apache.logging.log4j.Level
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.sql.DataFrame

import dwell.{Logged, SparkSuite}
import dwell.ml.classification.LogisticRegression
import dwell.ml.clustering.LDA
import dwell.report.FitReport

/** What fits log. */
class LogSuite extends SparkSuite {

  private lazy val data: DataFrame = {
    val random = new Random(7)
    val rows = Seq.fill(1200) {
      val x = Array.fill(3)(random.nextInt(4).toDouble)
      (if (x.sum + random.nextGaussian() > 4.5) 1.0 else 0.0, Vectors.dense(x): Vector)
    }
    spark.createDataFrame(rows).toDF("label", "features").cache()
  }

  test("one INFO line a fit, with the Params that were set, and one DEBUG line a round, with names") {
    val asked = new LogisticRegression().setRegParam(0.01)
    val (model, lines) = Logged.at(Level.INFO)(asked.fit(data))
    val told = FitReport.of(model)
    val fits = lines.filter(_.startsWith("fit: "))
    assert(fits.size == 1 && told.algorithm == "newton", lines)
    val expected = s"fit: LogisticRegression ${asked.uid} regParam=0.01 newton rounds=${told.rounds.last.round} gap="
    assert(fits.head.startsWith(expected) && fits.head.endsWith(" s 1,200 x 3"), fits)
    assert(lines.forall(!_.contains("objective=")))
    val (again, details) = Logged.at(Level.DEBUG)(asked.fit(data))
    val rounds = details.filter(_.startsWith(s"${asked.uid}: round="))
    assert(rounds.size == FitReport.of(again).rounds.last.round)
    assert(rounds.forall(line => Seq("objective=", "gap=", "seconds=", "worker=").forall(line.contains(_))), rounds)
  }

  test("topics, and a fit of Spark's own code") {
    val (_, lines) = Logged.at(Level.INFO)(new LDA().setK(2).setMaxIter(2).setSeed(1L).fit(data))
    val fits = lines.filter(_.startsWith("fit: "))
    assert(fits.size == 1 && fits.head.contains(" k=2 maxIter=2 ma-lda rounds=2 "), lines)
    val (_, left) = Logged.at(Level.INFO)(new LDA().setK(2).setMaxIter(1).setOptimizer("em").fit(data))
    assert(left.count(_.startsWith("fit: ")) == 1 && left.exists(_.contains(" spark ")), left)
  }

  test("what a fit that has not converged advises does not change its method") {
    val (_, warnings) = Logged.warnings(new LogisticRegression().setMaxIter(1).setTol(1e-12).fit(data))
    assert(warnings.count(_.endsWith("Raise maxIter or tol.")) == 1, warnings)
  }

  test("a WARN about the cluster comes once a session, and says what to do") {
    val many = new LogisticRegression().setAlgorithm("l-bfgs").setNumWorkers(61)
    val (first, warned) = Logged.warnings(many.fit(data))
    val about = warned.filter(_.contains("61 tasks have to run at once"))
    assert(about.size == 1 && about.head.startsWith(s"${many.uid} is trained in driver mode"), warned)
    assert(about.head.contains("lower numWorkers or add executors. Later fits of this session do not repeat it."))
    assert(FitReport.of(first).aggregation == "driver" && FitReport.of(first).numPartitions == 61)
    val (_, again) = Logged.warnings(many.fit(data))
    assert(!again.exists(_.contains("61 tasks")), again)
    val (_, other) = Logged.warnings(many.setNumWorkers(62).fit(data))
    assert(other.exists(_.contains("62 tasks have to run at once")), "another fact")
  }
}
