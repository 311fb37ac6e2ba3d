package dwell

import org.apache.spark.SparkContext
import org.apache.spark.sql.SparkSession

/** A suite that uses Spark. All suites of a test run share one session with two task slots, unless one of them stops it. */
trait SparkSuite extends LimitedSuite {
  protected def spark: SparkSession = SparkSuite.session
  protected def sc: SparkContext = spark.sparkContext

  /** Runs `body` with a setting of the session. */
  protected def withConf[T](key: String, value: String)(body: => T): T = {
    spark.conf.set(key, value)
    try body
    finally spark.conf.unset(key)
  }
}

object SparkSuite {
  private[dwell] def session: SparkSession = builder("local[2]").getOrCreate()

  /** A session that replaces the one that all suites share; the caller stops it. */
  private[dwell] def fresh(master: String, settings: (String, String)*): SparkSession = {
    SparkSession.getDefaultSession.foreach(_.stop())
    settings.foldLeft(builder(master)) { case (b, (key, value)) => b.config(key, value) }.getOrCreate()
  }

  /**
   * Runs `body` in a session of so many slots that divides `bytes` of memory between cached blocks and its own work, by
   * Spark's settings for tests of its own.
   */
  private[dwell] def withMemory(slots: Int, bytes: Long)(body: SparkSession => Unit): Unit = {
    val all = bytes + ReservedBytes
    val settings =
      Seq("memory" -> all, "reservedMemory" -> ReservedBytes).map { case (key, value) =>
        s"spark.testing.$key" -> s"$value"
      }
    val session = fresh(s"local[$slots]", (settings :+ ("spark.memory.fraction" -> "1.0")): _*)
    try body(session)
    finally session.stop()
  }

  /** Spark wants half as much again in all. */
  private val ReservedBytes = 1000L

  private def builder(master: String): SparkSession.Builder = SparkSession
    .builder()
    .master(master)
    .appName("dwell tests")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    // Queries of a few rows run once: compiling them takes longer. Tests on clusters, of shapes and from Python compile theirs.
    .config("spark.sql.codegen.wholeStage", "false")
    .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    .config("spark.driver.host", "localhost")
}
