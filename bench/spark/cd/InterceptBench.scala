package dwell.bench.cd

import scala.util.Random

import org.apache.spark.ml.Estimator
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.sql.{DataFrame, SparkSession}

import dwell.bench.Bench
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression
import dwell.report.FitReport

/**
 * Rounds of the dual orientation with an intercept, one epoch each, until the report knows of a relative gap of 1e-2 to 1e-6
 * (of the hinge: 1e-4), on small generated data of several shapes. No time is measured.
 */
object InterceptBench {

  private val Targets = Seq(1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
  private val HingeTargets = Targets.take(3)
  private val Workers = Seq(4, 8)
  private val MostRounds = 200
  private val Parts = 6

  /** Class, number to predict, features. */
  private type Row = (Double, Double, Vector)

  def main(args: Array[String]): Unit = Bench.run("intercept bench", args) { bench =>
    val shapes = Seq("cluster" -> powerLaw _, "news" -> unitRows _, "tall" -> dense _)
    for ((name, rows) <- shapes) {
      val data = rows(bench.spark).cache()
      val penalties = Seq(true -> 0.01, true -> 0.1) ++ (if (name == "news") Seq(false -> 1e-3, false -> 1e-4) else Nil)
      for ((standardization, regParam) <- penalties; loss <- Seq("squared", "logistic", "hinge"); workers <- Workers) {
        run(bench, name, data, standardization, regParam, loss, workers)
      }
      data.unpersist()
    }
  }

  private def run(
      bench: Bench,
      name: String,
      data: DataFrame,
      standardization: Boolean,
      regParam: Double,
      loss: String,
      workers: Int): Unit = {
    val dual = "orientation" -> "dual"
    val (own, targets) = loss match {
      case "squared" => (Seq(dual, "labelCol" -> "target", "solver" -> "l-bfgs"), Targets)
      case "logistic" => (Seq(dual), Targets)
      case "hinge" => (Seq.empty, HingeTargets)
    }
    def estimator: Estimator[_] = loss match {
      case "squared" => new LinearRegression()
      case "logistic" => new LogisticRegression()
      case "hinge" => new LinearSVC()
    }
    val params: Seq[(String, Any)] = own ++ Seq(
      "regParam" -> regParam,
      "standardization" -> standardization,
      "numWorkers" -> workers,
      "localWork" -> "1",
      "tol" -> targets.min,
      "maxIter" -> MostRounds)
    val report = FitReport.of(Bench.fit(estimator, data, params: _*))
    require(report.solver == "native", report.toText)
    val toGap = targets.map(target => report.rounds.find(_.relativeGap <= target).map(_.round))
    println(
      f"$name%-8s $loss%-8s standardised $standardization%-5s regParam $regParam%.0e, $workers%d workers: " +
        toGap.map(_.fold("-")(_.toString)).mkString(" "))
    bench.add(
      "data" -> name,
      "rows" -> report.numRows,
      "features" -> report.numFeatures,
      "loss" -> loss,
      "standardization" -> standardization,
      "regParam" -> regParam,
      "workers" -> workers,
      "targets" -> targets,
      "roundsToGap" -> toGap)
  }

  /** 3000 x 5000, 40 draws a row from a power law, values 1 to 4: the data of tests/cluster. */
  private def powerLaw(spark: SparkSession): DataFrame = frame(spark, 3000) { random =>
    val ids = drawn(random, 40, 5000, 3.0)
    val target = ids.count(_ % 7 == 0) + 0.3 * random.nextGaussian()
    val values = ids.map(_ => 1.0 + random.nextInt(4))
    (positive(target > 4.5), target, Vectors.sparse(5000, ids, values))
  }

  /** 3000 x 60,000, 150 draws a row from a power law, rows of unit norm. */
  private def unitRows(spark: SparkSession): DataFrame = frame(spark, 3000) { random =>
    val ids = drawn(random, 150, 60000, 4.0)
    val values = ids.map(_ => 0.3 + random.nextDouble())
    val norm = math.sqrt(values.map(v => v * v).sum)
    val unit = values.map(_ / norm)
    val planted = ids.indices.map(k => if (ids(k) % 11 == 0) unit(k) * 1.5 * new Random(ids(k)).nextGaussian() else 0.0)
    val target = 10.0 * planted.sum + 0.3 * random.nextGaussian() + 1.0
    (positive(target > 2.0), target, Vectors.sparse(60000, ids, unit))
  }

  /** 5000 x 30, normal features of deviations 1 to 30 and means 0 to 29. */
  private def dense(spark: SparkSession): DataFrame = frame(spark, 5000) { random =>
    val x = Array.tabulate(30)(k => random.nextGaussian() * (k + 1) + k)
    val target = 0.5 * x.indices.map(k => x(k) / (k + 1) * math.sin(k)).sum + random.nextGaussian()
    (positive(target > 3.0), target, Vectors.dense(x))
  }

  private def drawn(random: Random, draws: Int, features: Int, power: Double): Array[Int] =
    Array.fill(draws)((features * math.pow(random.nextDouble(), power)).toInt).distinct.sorted

  private def positive(holds: Boolean): Double = if (holds) 1.0 else 0.0

  private def frame(spark: SparkSession, numRows: Int)(row: Random => Row): DataFrame =
    spark
      .createDataFrame(spark.sparkContext.parallelize(0 until numRows, Parts).map(j => row(new Random(j))))
      .toDF("label", "target", "features")
}
