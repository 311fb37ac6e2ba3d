package dwell.bench.grid

import scala.util.Random

import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.functions.{abs, col, hash, when}

import dwell.bench.Bench
import dwell.bench.anatomy.{DataTable, GeneratedRows}
import dwell.shapes.Shape

/**
 * Data of the grid, and the columns that it has there.
 *
 * @param make
 *   columns `features`, `label` and `class`, not cached; None without the package descriptions, if it is made of them
 * @param fits
 *   names of its columns, or the beginnings of several
 * @param standardization
 *   whether features are standardised in all fits that do not say otherwise
 * @param weighted
 *   whether all fits use the weights
 */
private[bench] final case class GridRows(
    name: String,
    make: Bench => Option[DataFrame],
    fits: Seq[String],
    standardization: Boolean = true,
    weighted: Boolean = false) {

  /** The fits that the grid has for this data. */
  def columns: Seq[GridFit] =
    GridFit.all
      .filter(fit => fits.exists(fit.name.startsWith))
      .map(fit =>
        fit.copy(standardization = standardization && fit.standardization, weighted = weighted || fit.weighted))
}

private[bench] object GridRows {

  private val Sorted =
    Seq(
      "linear-default",
      "linear-l2",
      "linear-net",
      "logistic-default",
      "logistic-l2",
      "logistic-net",
      "svc-default",
      "svc-l2")

  /** Column of a label with ten classes. */
  val Ten = "ten"

  /** Column of weights. */
  val Weight = "weight"

  private val Classes = 10

  /**
   * The rows of the grid. Every data has fits of several estimators, and every column some data, of each kind at least once: few
   * features and many, dense and sparse.
   */
  val all: Seq[GridRows] = Seq(
    ofTable("dense-28", "linear", "logistic", "ten-l2", "ten-default", "svc-l2", "svc-small"),
    generated("dense-10", "linear", "logistic", "ten-l2", "svc-l2")((bench, made) =>
      made.dense(DataTable.share(bench, 3000000), 10)),
    ofTable(
      "dense-400",
      "linear-default",
      "linear-l2",
      "linear-net",
      "logistic-default",
      "logistic-l2",
      "logistic-small",
      "logistic-net",
      "logistic-raw",
      "ten-net",
      "svc-l2",
      "svc-raw"),
    generated(
      "dense-2000",
      "linear-default",
      "linear-l1",
      "linear-raw",
      "logistic-l2",
      "logistic-l1",
      "logistic-weights",
      "ten-small",
      "svc-l2")((bench, made) => made.dense(DataTable.share(bench, 20000), 2000)),
    ofTable("hashed", "linear-l2", "logistic-default", "logistic-l2", "logistic-small", "logistic-net", "svc-l2"),
    ofTable(
      "packages",
      "linear-l2",
      "linear-net",
      "logistic-l2",
      "logistic-raw",
      "logistic-l1",
      "ten-l2",
      "svc-l2",
      "svc-weights"),
    ofTable(
      "sparse",
      "linear-l2",
      "linear-net",
      "linear-small",
      "logistic-l2",
      "logistic-net",
      "logistic-raw",
      "ten-raw",
      "svc-l2",
      "svc-small"),
    generated("small", "linear", "logistic", "ten-l1", "ten-weights", "svc")((bench, made) =>
      made.dense(DataTable.share(bench, 2000), 28)),
    generated("small-200", "linear-default", "linear-net", "logistic-default", "logistic-l2", "ten-l2", "svc-l2")(
      (bench, made) => made.dense(DataTable.share(bench, 20000), 200)),
    GridRows(
      "one-hot",
      bench => Some(oneHot(bench.spark, DataTable.share(bench, 100000), bench.seed)),
      Seq(
        "linear-default",
        "linear-l2",
        "linear-weights",
        "logistic-default",
        "logistic-l1",
        "logistic-weights",
        "ten-default",
        "svc-default")),
    GridRows("sorted-dense", bench => Some(sorted(bench, 60000, sparse = false)), Sorted),
    GridRows("sorted-one-hot", bench => Some(sorted(bench, 260000, sparse = true)), Sorted))

  /** Dense rows from far fewer than features to more, which are no part of the grid unless they are asked for. */
  lazy val wide: Seq[GridRows] =
    for (rows <- Seq(200, 600, 2000, 20000); features <- Seq(500, 1000, 2000, 4000))
      yield generated(
        s"wide-$rows-$features",
        "linear-default",
        "linear-l2",
        "logistic-default",
        "logistic-l2",
        "svc-default",
        "svc-l2")((bench, made) => made.dense(DataTable.share(bench, rows), features))

  /** The shapes of `shapesTest` at ten times their size, which are no part of the grid unless they are asked for. */
  lazy val shapes: Seq[GridRows] = Shape.all(times = 10).map { shape =>
    GridRows(
      shape.name.replaceAll("[^a-z0-9]+", "-"),
      bench => Some(ofShape(bench.spark, shape)),
      Seq(
        "linear-l2",
        "linear-small",
        "linear-net",
        "logistic-l2",
        "logistic-small",
        "logistic-net",
        "svc-l2",
        "svc-small"),
      shape.standardization,
      shape.weighted)
  }

  private def ofShape(spark: SparkSession, shape: Shape): DataFrame =
    spark
      .createDataFrame(spark.sparkContext.parallelize(shape.rows, 4))
      .toDF("label", "class", Weight, "features")

  /** Data that reading and the phases of fits are measured on, too. */
  private def ofTable(name: String, fits: String*): GridRows =
    GridRows(name, DataTable.all.find(_.name == name).get.make, fits)

  private def generated(name: String, fits: String*)(make: (Bench, GeneratedRows) => DataFrame): GridRows =
    GridRows(name, bench => Some(make(bench, new GeneratedRows(bench.spark, bench.seed))), fits)

  /** With ten classes of about as many rows, by the label, and weights of 0.5, 1 and 2 where there are none. */
  def withAllColumns(rows: DataFrame): DataFrame = {
    val ends = rows.stat.approxQuantile("label", (1 until Classes).map(_.toDouble / Classes).toArray, 0.001)
    val ten = ends.map(end => when(col("label") > end, 1.0).otherwise(0.0)).reduce(_ + _)
    val draw = abs(hash(col("label"))) % 3
    val all = rows.withColumn(Ten, ten)
    if (rows.columns.contains(Weight)) all
    else all.withColumn(Weight, when(draw === 0, 0.5).when(draw === 1, 1.0).otherwise(2.0))
  }

  /** Rows sorted by time: the dummies of their days, of two categories with rare values, and nine numbers. */
  private def sorted(bench: Bench, most: Int, sparse: Boolean): DataFrame = {
    val (numRows, seed) = (DataTable.share(bench, most), bench.seed)
    val (days, places, numbers) = (60, 80, 9)
    val features = days + places + numbers
    val parts = 4
    val data = bench.spark.sparkContext.parallelize(0 until parts, parts).flatMap { part =>
      val ends = Seq(part, part + 1).map(p => (p.toLong * numRows / parts).toInt)
      (ends.head until ends.last).iterator.map { number =>
        val random = new Random(seed * 31 + number)
        val day = (number.toLong * days / numRows).toInt
        val hot = Array(day, days + (places * math.pow(random.nextDouble(), 4.0)).toInt)
        val x = Array.fill(numbers)(random.nextGaussian())
        val label = hot.map(j => new Random(seed + j).nextGaussian()).sum + x.sum / numbers + random.nextGaussian()
        val all = Vectors.sparse(features, hot ++ (days + places until features), Array(1.0, 1.0) ++ x)
        (label, if (label > 0.0) 1.0 else 0.0, if (sparse) all else all.toDense)
      }
    }
    bench.spark.createDataFrame(data).toDF("label", "class", "features")
  }

  /** Ten categories, each value a feature. Most values of a category are rare. */
  private def oneHot(spark: SparkSession, numRows: Int, seed: Long): DataFrame = {
    val (categories, values) = (10, 1000)
    val data = spark.sparkContext.parallelize(0 until numRows, 4).map { number =>
      val random = new Random(seed * 31 + number)
      val hot = Array.tabulate(categories)(c => c * values + (values * math.pow(random.nextDouble(), 4.0)).toInt)
      val label = hot.map(feature => new Random(seed + feature).nextGaussian()).sum / math.sqrt(
        categories) + 0.5 * random.nextGaussian()
      (label, if (label > 0.0) 1.0 else 0.0, Vectors.sparse(categories * values, hot, Array.fill(categories)(1.0)))
    }
    spark.createDataFrame(data).toDF("label", "class", "features")
  }
}
