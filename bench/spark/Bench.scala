package dwell.bench

import java.nio.file.{Files, Paths}

import scala.collection.mutable

import org.apache.spark.ml.{Estimator, Model}
import org.apache.spark.ml.classification.{LinearSVCModel, LogisticRegressionModel}
import org.apache.spark.ml.linalg.Vector
import org.apache.spark.ml.param.{Param, Params}
import org.apache.spark.ml.regression.LinearRegressionModel
import org.apache.spark.sql.{DataFrame, SparkSession}

import dwell.bench.lda.{LdaCorpus, LdaShape}
import dwell.bench.sgd.{SgdData, SgdShape}
import dwell.record.{FitPhases, RoundRecord}
import dwell.report.ComparedFit

/**
 * One run of a benchmark on Spark: its arguments, its data, and the JSON file that it writes.
 *
 * @param packagesFile
 *   the TSV file of demo/packages.py, where there is one
 * @param scale
 *   of the generated data
 */
private[bench] final class Bench(
    val spark: SparkSession,
    packagesFile: Option[String],
    val scale: Double,
    val seed: Long,
    val repetitions: Int,
    output: String) {

  private val rows = mutable.ArrayBuffer.empty[String]

  lazy val wide: DataFrame = BenchData.wide(spark, scale, seed)
  lazy val wideClasses: DataFrame = BenchData.twoClasses(wide)
  lazy val packages: Option[DataFrame] = packagesFile.map(BenchData.packages(spark, _))
  lazy val libraries: Option[DataFrame] = packagesFile.map(BenchData.libraries(spark, _))

  /** Of a share of the packages where the scale is below 1. */
  lazy val sections: Option[DataFrame] = packagesFile.map(BenchData.sections(spark, _, scale))
  lazy val scaledPackages: Option[DataFrame] = packagesFile.map(BenchData.packages(spark, _, scale))
  lazy val scaledLibraries: Option[DataFrame] = packagesFile.map(BenchData.libraries(spark, _, scale))

  /** Generated for SGD, with as many partitions; the caller gives its memory back. */
  def sgd(shape: SgdShape, workers: Int): SgdData = new SgdData(spark, shape, scale, seed, workers)

  /** Generated documents; the caller gives their memory back. */
  def documents(shape: LdaShape): LdaCorpus = LdaCorpus.generated(spark, shape, scale, seed)

  /** A corpus by its name, unless it is of packages and they are not there. */
  def documents(name: String): Option[LdaCorpus] =
    if (name == LdaCorpus.Packages) packagesFile.map(LdaCorpus.packages(spark, _, math.min(1.0, scale), seed))
    else LdaShape.all.find(_.name == name).map(documents)

  /** Path of a page beside the file. */
  def page(name: String): String = s"${output.stripSuffix(".json")}-$name.html"

  /** Adds a result to the file, which is complete after each. */
  def add(result: (String, Any)*): Unit = {
    rows += result.map { case (name, value) => s""""$name": ${Bench.json(value)}""" }.mkString("  {", ", ", "}")
    Files.writeString(Paths.get(output), rows.mkString("[\n", ",\n", "\n]\n"))
  }

  /**
   * What a system gives; None, and a result that says so, where a program of it does not end. The benchmark goes on without it.
   *
   * @param about
   *   what it was to solve, for the file of results
   */
  def unlessEndless[T](system: String, about: Seq[(String, Any)])(body: => T): Option[T] =
    try Some(body)
    catch {
      case e: OtherProgram.DidNotEndException =>
        println(s"$system ${e.getMessage}")
        add(about ++ Seq("system" -> system, "didNotEnd" -> true): _*)
        None
    }
}

private[bench] object Bench {

  /** Number of the arguments of [[run]]. */
  val Arguments = 5

  /** Arguments: the TSV file of demo/packages.py (or `-` to leave that data out), scale, seed, repetitions, output. */
  def run(name: String, args: Array[String])(body: Bench => Unit): Unit = {
    val Array(packagesFile, scale, seed, repetitions, output) = args
    val spark = SparkSession.builder().appName(s"dwell $name").getOrCreate()
    val packages = Option.when(packagesFile != "-")(packagesFile)
    try body(new Bench(spark, packages, scale.toDouble, seed.toLong, repetitions.toInt, output))
    finally spark.stop()
  }

  /** Of an even number the upper one of the two in the middle. */
  def median(values: Seq[Double]): Double = values.sorted.apply(values.size / 2)

  final case class Timed[T](result: T, seconds: Double)

  def timed[T](body: => T): Timed[T] = {
    val start = System.nanoTime()
    val result = body
    Timed(result, (System.nanoTime() - start) * 1e-9)
  }

  def shape(data: DataFrame): String =
    s"${data.count()} rows x ${data.first().getAs[Vector]("features").size} features"

  /** A fit with Params by name. */
  def fit(estimator: Estimator[_], data: DataFrame, params: (String, Any)*): Model[_] = {
    params.foreach { case (name, value) =>
      (estimator: Params).set(estimator.getParam(name).asInstanceOf[Param[Any]], value)
    }
    estimator.fit(data).asInstanceOf[Model[_]]
  }

  /** Rounds that were measured, as a fit on the page of a comparison. */
  def compared(name: String, rounds: Seq[RoundRecord]): ComparedFit =
    ComparedFit(
      name,
      by = "",
      rounds,
      relativeGap = rounds.last.relativeGap,
      FitPhases.of(rounds.last.elapsed, rounds = rounds))

  /** The objective by iteration, in Spark's units: those of the squared loss are not those of the FitReport. */
  def history(model: Model[_]): Array[Double] = model match {
    case m: LinearRegressionModel => m.summary.objectiveHistory
    case m: LogisticRegressionModel => m.summary.objectiveHistory
    case m: LinearSVCModel => m.summary.objectiveHistory
  }

  def coefficients(model: Model[_]): Vector = model match {
    case m: LinearRegressionModel => m.coefficients
    case m: LogisticRegressionModel => m.coefficients
    case m: LinearSVCModel => m.coefficients
  }

  private def json(value: Any): String = value match {
    case text: String => "\"" + text.flatMap(c => if (c == '"' || c == '\\') s"\\$c" else c.toString) + "\""
    case None => "null"
    case Some(some) => json(some)
    case number: Double if number.isNaN || number.isInfinite => "null"
    case values: Iterable[_] => values.map(json).mkString("[", ", ", "]")
    case other => other.toString
  }
}
