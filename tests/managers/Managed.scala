package dwell.cluster

import org.apache.spark.{DwellBridge, Shuffles}
import org.apache.spark.sql.SparkSession

import dwell.report.FitReport

/**
 * An application as a cluster manager runs it. Argument: `fit` prints the report of a fit and who trained, where;
 * `allocation` needs dynamic allocation, an external shuffle service and executors that leave when they are idle.
 */
object Managed extends Harness {

  def main(args: Array[String]): Unit = {
    val spark = SparkSession.builder().appName("dwell under a cluster manager").getOrCreate()
    args match {
      case Array("fit") => fit(spark)
      case Array("allocation") => allocation(spark)
    }
  }

  private def fit(spark: SparkSession): Unit = {
    val sc = spark.sparkContext
    // The fit takes the executors that are there, and a standalone master gives them one by one.
    waitForExecutors(spark, 2)
    val report = FitReport.of(pair("auto").setMaxIter(10).fit(problem(spark)))
    println(report.toText)
    val executors = DwellBridge.executors(sc).size
    println(
      s"trained by ${report.solver} in ${sc.deployMode} mode, driver on ${sc.getConf.get("spark.driver.host")}, $executors executors")
    spark.stop()
  }

  private def allocation(spark: SparkSession): Unit = {
    val sc = spark.sparkContext
    val computed = sc.longAccumulator
    val rows = problem(spark)
    val counted = rows.rdd.map { row =>
      computed.add(1L)
      row
    }
    val data = spark.createDataFrame(counted.repartition(4), rows.schema)
    for (mode <- Seq("driver", "shuffle"))
      test(s"aggregation $mode: executors leave between two fits, and the service has what they shuffled") {
        val first = pair(mode).setMaxIter(10).fit(data)
        rows.unpersist()
        check(onEach(spark)(() => Shuffles.areServed).values.forall(identity), "no service keeps the files")
        val before = computed.value
        eventually("executors stay")(DwellBridge.executors(sc).isEmpty)
        val second = pair(mode).setMaxIter(10).fit(data)
        val report = FitReport.of(second)
        check(report.solver == "native" && report.aggregation == mode, report.toText)
        check(second.coefficients == first.coefficients, "other bits")
        check(computed.value == before, s"${computed.value} rows in place of $before: they were read again")
      }
    finish(spark)
  }
}
