package dwell.session

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.types.{MetadataBuilder, StringType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import dwell.spark.NativeLibrary

/**
 * The data source `dwell.session.Reports`: a row for each report of the caller's session of Spark Connect, the oldest first. The
 * columns are `fit` (the tag of the fit), `uid`, `json`, `text` and `page`. The option `fit` leaves the reports of one tag.
 */
final class Reports extends SessionSource(Reports.Columns) {

  override protected def rows(session: SparkSession, options: CaseInsensitiveStringMap): Seq[String => String] = {
    val fit = Option(options.get("fit"))
    for (kept <- SessionReports.of(session) if fit.forall(_ == kept.fit))
      yield (column: String) => Reports.text(kept, column)
  }
}

private object Reports {

  /** Clients see the version of the jar in the metadata of `json`. */
  private val Columns: StructType = {
    val version = new MetadataBuilder().putString("dwell", NativeLibrary.version).build()
    new StructType()
      .add("fit", StringType, nullable = false)
      .add("uid", StringType, nullable = false)
      .add("json", StringType, nullable = false, version)
      .add("text", StringType, nullable = false)
      .add("page", StringType, nullable = false)
  }

  private def text(kept: SessionReports.KeptReport, column: String): String = column match {
    case "fit" => kept.fit
    case "uid" => kept.report.uid
    case "json" => kept.report.toJson
    case "text" => kept.report.toText
    case "page" => kept.report.toHtml
  }
}
