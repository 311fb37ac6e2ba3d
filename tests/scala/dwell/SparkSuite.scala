package dwell

import org.apache.spark.SparkContext
import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite

/** A suite that uses Spark. All suites of a test run share one session with two task slots, unless one of them stops it. */
trait SparkSuite extends AnyFunSuite {
  protected def spark: SparkSession = SparkSuite.session
  protected def sc: SparkContext = spark.sparkContext
}

private object SparkSuite {
  def session: SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .appName("dwell tests")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.driver.host", "localhost")
    .getOrCreate()
}
