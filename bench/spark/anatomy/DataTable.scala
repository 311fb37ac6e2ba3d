package dwell.bench.anatomy

import java.nio.file.Files

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, when}

import dwell.bench.{Bench, BenchData, NamedArguments}
import dwell.bench.lda.{LdaCorpus, LdaShape}
import dwell.bench.sgd.SgdProgram

/**
 * A data set of the table on which reading and whole fits are measured: rows with `label` and `class`, or documents, whose
 * only column is `features`.
 *
 * @param make
 *   not cached; None without the package descriptions, if it is made of them
 */
private[bench] final case class TableData(name: String, documents: Boolean, make: Bench => Option[DataFrame])

/** A frame of a data set, in memory or in Parquet files, with its name, place, numbers of rows, features and stored entries. */
private[bench] final case class StoredFrame(
    data: TableData,
    stored: String,
    frame: DataFrame,
    rows: Long,
    features: Int,
    entries: Long) {

  def about: Seq[(String, Any)] =
    Seq("data" -> data.name, "stored" -> stored, "rows" -> rows, "features" -> features, "entries" -> entries)
}

/**
 * The table: arguments `data=dense-28,documents` and `stored=memory,parquet` choose its rows. A scale below 1 leaves such a
 * share of the rows, and of the features of sparse data.
 */
private[bench] object DataTable {
  private val Memory = "memory"
  private val Parquet = "parquet"

  /** So that a fit has something to find at any scale. */
  private val LeastRows = 200
  private val LeastFeatures = 500

  val all: Seq[TableData] = Seq(
    rows("dense-28")((bench, made) => made.dense(share(bench, 1000000), 28)),
    rows("dense-400")((bench, made) => made.dense(share(bench, 100000), 400)),
    rows("hashed")((bench, made) => made.hashed(share(bench, 500000), features(bench, 1 << 20), fields = 20)),
    TableData("packages", documents = false, _.scaledPackages.map(withClasses)),
    rows("sparse")((bench, made) => made.sparse(share(bench, 20000), features(bench, 200000), entries = 100)),
    TableData("documents", documents = true, bench => Some(articles(bench))))

  /** Calls `body` for each row of the table that `asked` has; it finds the frame in warm files, or in Spark's memory. */
  def foreach(bench: Bench, asked: NamedArguments)(body: StoredFrame => Unit): Unit = {
    val places = asked.chosen("stored", Seq(Memory, Parquet))(identity)
    asked.chosen("data", all)(_.name).foreach { data =>
      data.make(bench) match {
        case None => println(s"\n== ${data.name}: left out, without package descriptions")
        case Some(made) => stored(data, made, places)(body)
      }
    }
  }

  private def stored(data: TableData, made: DataFrame, places: Seq[String])(body: StoredFrame => Unit): Unit = {
    val files = Files.createTempDirectory("dwell-bench-data")
    try {
      made.write.mode("overwrite").parquet(files.toString)
      val read = made.sparkSession.read.parquet(files.toString)
      val (rows, features, entries) = sizes(read)
      places.foreach { place =>
        val frame = if (place == Memory) BenchData.cached(read) else read
        println(s"\n== ${data.name}, $place: $rows rows x $features features, $entries entries")
        try body(StoredFrame(data, place, frame, rows, features, entries))
        finally frame.unpersist(blocking = true)
      }
    } finally SgdProgram.delete(files)
  }

  private def sizes(frame: DataFrame): (Long, Int, Long) =
    frame
      .select("features")
      .rdd
      .map { row =>
        val x = row.getAs[org.apache.spark.ml.linalg.Vector](0)
        (1L, x.size, x.numActives.toLong)
      }
      .reduce((a, b) => (a._1 + b._1, a._2, a._3 + b._3))

  private def rows(name: String)(make: (Bench, GeneratedRows) => DataFrame): TableData =
    TableData(name, documents = false, bench => Some(make(bench, new GeneratedRows(bench.spark, bench.seed))))

  private def articles(bench: Bench): DataFrame = {
    val shape = LdaShape.NyTimes
    LdaCorpus.documents(
      bench.spark,
      shape.copy(documents = share(bench, shape.documents), vocabulary = features(bench, shape.vocabulary)),
      bench.seed)
  }

  /** Half of the rows are of class 1. */
  private def withClasses(rows: DataFrame): DataFrame = {
    val Array(median) = rows.stat.approxQuantile("label", Array(0.5), 0.001)
    rows.withColumn("class", when(col("label") > median, 1.0).otherwise(0.0))
  }

  /** So many rows, scaled. */
  def share(bench: Bench, rows: Int): Int = math.max(LeastRows, (rows * bench.scale).toInt)

  private def features(bench: Bench, most: Int): Int =
    math.max(LeastFeatures, (most * math.min(1.0, bench.scale)).toInt)
}
