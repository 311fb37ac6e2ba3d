package dwell.bench

import java.nio.file.{Files, Paths}

import scala.util.Random

import org.apache.spark.ml.feature.{CountVectorizer, IDF, RegexTokenizer}
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression, LinearRegressionModel}
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.functions.{col, log1p}

import dwell.ml.regression.LinearRegression
import dwell.report.FitReport

/**
 * LinearRegression by Dwell beside Spark's l-bfgs: seconds of a whole `fit` to a relative suboptimality of 1e-3 and of
 * 1e-6, on the same cluster and the same cached data, in one run, the two in turn.
 *
 * The optimum is Dwell's lower bound from a fit to a relative gap of 1e-9, so that both are measured against a proven
 * value. How many iterations each needs is read off its objective history in one long fit; then fits of just so many
 * iterations are timed, set-up included (for Spark: its summaries; for Dwell: flattening and transposing).
 *
 * Arguments: the TSV file of demo/packages.py (or `-` to leave that data out), scale of the generated data (1 is 20,000
 * x 1,355,191), seed, repetitions, path of the JSON file to write.
 */
object LinearRegressionBench {

  private val Targets = Seq(1e-3, 1e-6)

  /** Source partitions of the generated data: two for each slot. */
  private val Parts = 4

  private final case class Case(
      name: String,
      data: DataFrame,
      standardization: Boolean,
      regParam: Double,
      elasticNet: Double)

  private final case class Timing(
      data: String,
      regParam: Double,
      elasticNet: Double,
      target: Double,
      system: String,
      iterations: Option[Int],
      seconds: Seq[Double]) {
    def median: Double = seconds.sorted.apply(seconds.size / 2)
  }

  def main(args: Array[String]): Unit = {
    val Array(packagesFile, scale, seed, repetitions, output) = args
    val spark = SparkSession.builder().appName("dwell bench").getOrCreate()
    val wide = wideData(spark, scale.toDouble, seed.toLong)
    val packages = if (packagesFile == "-") None else Some(packagesData(spark, packagesFile))
    val cases =
      packages.toSeq.flatMap { p =>
        Seq(
          Case("packages", p, standardization = true, 1.0, 0.0),
          Case("packages", p, standardization = true, 0.02, 0.5))
      } ++ Seq(
        // Rows of unit norm are not standardised, as is usual for text.
        Case("wide, shaped like news20", wide, standardization = false, 5e-5, 0.0),
        Case("wide, shaped like news20", wide, standardization = false, 2e-4, 0.5))
    val timings = cases.flatMap(run(_, repetitions.toInt))
    val json = timings.map { t =>
      s"""  {"data": "${t.data}", "regParam": ${t.regParam}, "elasticNetParam": ${t.elasticNet}, "target": ${t.target}, """ +
        s""""system": "${t.system}", "iterations": ${t.iterations.getOrElse("null")}, """ +
        s""""seconds": ${t.seconds.mkString("[", ", ", "]")}}"""
    }
    Files.writeString(Paths.get(output), json.mkString("[\n", ",\n", "\n]\n"))
    spark.stop()
  }

  private def run(c: Case, repetitions: Int): Seq[Timing] = {
    val shape = s"${c.data.count()} rows x ${c.data.first().getAs[Vector]("features").size} features"
    println(
      s"\n== ${c.name} ($shape), regParam ${c.regParam}, elasticNetParam ${c.elasticNet}, " +
        s"standardization ${c.standardization}")
    val proof = ours(c, 1000, 1e-9)
    val report = FitReport.of(proof)
    println(report.toText)
    require(report.solver == "native", report.toText)
    // In the units of both histories.
    val optimum = proof.summary.objectiveHistory.last * (1.0 - report.relativeGap)
    val long = theirs(c, 100)
    val histories = Seq("dwell" -> proof.summary.objectiveHistory, "spark l-bfgs" -> long.summary.objectiveHistory)
    val needed = for {
      target <- Targets
      (system, history) <- histories
    } yield {
      val at = history.indexWhere(f => f / optimum - 1.0 <= target)
      (target, system, if (at < 0) None else Some(at))
    }
    histories.foreach { case (system, history) =>
      println(
        f"$system%-14s best relative suboptimality ${history.min / optimum - 1.0}%.2e in ${history.length - 1} iterations")
    }
    val seconds = needed.map(n => n -> scala.collection.mutable.ArrayBuffer.empty[Double]).toMap
    for (_ <- 1 to repetitions; n @ (_, system, iterations) <- needed; i <- iterations) {
      val start = System.nanoTime()
      if (system == "dwell") ours(c, i, 0.0) else theirs(c, i)
      seconds(n) += (System.nanoTime() - start) * 1e-9
    }
    needed.map { case n @ (target, system, iterations) =>
      val t = Timing(c.name, c.regParam, c.elasticNet, target, system, iterations, seconds(n).toSeq)
      println(f"to $target%.0e: $system%-14s ${iterations.fold("not reached")(i =>
          f"$i%3d iterations, median ${t.median}%.2f s of ${t.seconds.map(s => f"$s%.2f").mkString(" ")}")}")
      t
    }
  }

  private def ours(c: Case, maxIter: Int, tol: Double): LinearRegressionModel =
    configured(new LinearRegression(), c, maxIter, tol).fit(c.data)

  private def theirs(c: Case, maxIter: Int): LinearRegressionModel =
    configured(new SparkLinearRegression(), c, maxIter, 0.0).fit(c.data)

  private def configured[E <: SparkLinearRegression](estimator: E, c: Case, maxIter: Int, tol: Double): E = {
    estimator
      .setSolver("l-bfgs")
      .setRegParam(c.regParam)
      .setElasticNetParam(c.elasticNet)
      .setStandardization(c.standardization)
      .setMaxIter(maxIter)
      .setTol(tol)
    estimator
  }

  /** Words of the distribution's package descriptions, tf-idf, against log(1 + installed size). */
  private[bench] def packagesData(spark: SparkSession, path: String): DataFrame = {
    val rows = spark.read
      .option("sep", "\t")
      .option("quote", "")
      .schema("package string, section string, size double, text string")
      .csv(path)
      .na
      .drop()
      .withColumn("label", log1p(col("size")))
    val words = new RegexTokenizer().setInputCol("text").setOutputCol("words").setPattern("[^a-z0-9+]+").transform(rows)
    val counter = new CountVectorizer().setInputCol("words").setOutputCol("counts").setVocabSize(1 << 20)
    val counts = counter.fit(words).transform(words)
    val idf = new IDF().setInputCol("counts").setOutputCol("features")
    cached(idf.fit(counts).transform(counts).select("label", "features"))
  }

  /**
   * Rows shaped like news20's: 429 nonzeros a row (log-normal lengths), feature popularity Zipf (1.02, 20), positive
   * values, rows of unit norm, and a planted model on 5% of the features with 30% noise.
   */
  private[bench] def wideData(spark: SparkSession, scale: Double, seed: Long): DataFrame = {
    val numRows = (20000 * scale).toInt
    val numFeatures = (1355191 * scale).toInt
    val rows = spark.sparkContext.parallelize(0 until Parts, Parts).flatMap { part =>
      val popularity = new Zipf(numFeatures, 1.02, 20.0)
      (part until numRows by Parts).iterator.map { j =>
        val random = new Random(SeedMix * (seed + 1) + j)
        val length = math.max(5, (429 * math.exp(0.8 * random.nextGaussian() - 0.32)).toInt)
        val ids = Array.fill(length)(popularity.sample(random)).distinct.sorted
        val values = ids.map(i => math.exp(0.7 * random.nextGaussian()) * math.log1p(1.0 / popularity.probability(i)))
        val norm = math.sqrt(values.map(v => v * v).sum)
        val unit = values.map(v => (v / norm).toFloat.toDouble)
        val planted = ids.indices.map(k => unit(k) * plantedWeight(ids(k), seed)).sum
        (10.0 * planted + 0.3 * random.nextGaussian(), Vectors.sparse(numFeatures, ids, unit))
      }
    }
    cached(spark.createDataFrame(rows).toDF("label", "features"))
  }

  private val SeedMix = 0x9e3779b97f4a7c15L

  private def plantedWeight(feature: Int, seed: Long): Double = {
    val random = new Random(seed * 31 + feature * SeedMix)
    if (random.nextDouble() < 0.05) random.nextGaussian() else 0.0
  }

  /** P(i) proportional to 1 / (i + 1 + shift)^exponent. */
  private final class Zipf(n: Int, exponent: Double, shift: Double) {
    private val cumulative = {
      val c = new Array[Double](n)
      var sum = 0.0
      var i = 0
      while (i < n) {
        sum += math.pow(i + 1 + shift, -exponent)
        c(i) = sum
        i += 1
      }
      c
    }
    def sample(random: Random): Int = {
      val at = java.util.Arrays.binarySearch(cumulative, random.nextDouble() * cumulative(n - 1))
      math.min(n - 1, if (at < 0) -at - 1 else at)
    }
    def probability(i: Int): Double = math.pow(i + 1 + shift, -exponent) / cumulative(n - 1)
  }

  private[bench] def cached(data: DataFrame): DataFrame = {
    val c = data.cache()
    c.count()
    c
  }
}
