package dwell.cluster

import org.apache.spark.sql.SparkSession

import dwell.CheckLong
import dwell.ml.classification.LogisticRegression
import dwell.report.FitReport

/**
 * Executors that a cluster manager takes away in the middle of a fit, as Kubernetes does: by the signal that asks them to hand
 * over their blocks and to leave when no task runs. The cluster needs `spark.decommission.enabled`.
 */
object DecommissionTest extends Harness {

  def main(args: Array[String]): Unit = {
    val spark = SparkSession.builder().appName("dwell decommission tests").getOrCreate()
    waitForExecutors(spark, 2)
    val data = problem(spark)

    def coordinates(mode: String) = FitReport.of(pair(mode).setTol(Tolerance).fit(data))
    def gradients = FitReport.of(
      new LogisticRegression()
        .setAlgorithm("l-bfgs")
        .setAggregation("driver")
        .setRegParam(1e-5)
        .setTol(Tolerance)
        .fit(binary(data)))

    for (mode <- Seq("driver", "gang")) leaves(spark, s"CoCoA, aggregation $mode")(coordinates(mode))
    CheckLong.only(1)(leaves(spark, "CoCoA, aggregation shuffle")(coordinates("shuffle")))
    leaves(spark, "L-BFGS")(gradients)
    finish(spark)
  }

  /** So small that a fit has some dozens of rounds after the executor was asked to leave. */
  private val Tolerance = 1e-4

  private def leaves(spark: SparkSession, name: String)(fit: => FitReport): Unit =
    test(s"an executor is decommissioned in mid-fit: $name") {
      waitForExecutors(spark, 2)
      val expected = fit
      val report = withExecutorKilled(spark, end = decommission)(fit)
      check(expected.solver == "native" && report.solver == "native", s"${expected.solver}, ${report.solver}")
      val difference = math.abs(report.objective - expected.objective)
      check(expected.converged && report.converged, s"${report.relativeGap}")
      check(difference <= Tolerance * expected.objective, s"objective differs by $difference")
      checkNothingLeft(spark)
    }

  private def decommission(pid: Long): Unit =
    check(new ProcessBuilder("kill", "-PWR", pid.toString).start().waitFor() == 0, s"no signal to $pid")
}
