package dwell.session

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * The data source `dwell.session.Progress`: one row with one column `json`, the fits of the caller's session of Spark Connect since
 * it was last read, as [[dwell.report.FitProgress]] has them.
 */
final class Progress extends SessionSource(new StructType().add("json", StringType, nullable = false)) {

  override protected def rows(session: SparkSession, options: CaseInsensitiveStringMap): Seq[String => String] = {
    val json = SessionProgress.of(session)
    Seq(_ => json)
  }
}
