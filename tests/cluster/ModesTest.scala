package dwell.cluster

import org.apache.spark.sql.SparkSession

/** The same fit in every mode of aggregation. Argument: the mode in which `auto` should end on this cluster. */
object ModesTest extends Harness {

  def main(args: Array[String]): Unit = {
    val Array(expected) = args
    val spark = SparkSession.builder().appName("dwell modes tests").getOrCreate()
    waitForExecutors(spark, 2)
    modesAgree(problem(spark), expected)
    finish(spark)
  }
}
