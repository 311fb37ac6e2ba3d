package dwell.ml.training

import org.apache.spark.sql.SparkSession

import dwell.SparkSuite
import dwell.data.TestData
import dwell.fit.DwellConf
import dwell.problem.{Algorithm, Orientation}

/** The orientations whose vectors there is room for. */
class OrientationsSuite extends SparkSuite {

  private def within(sizes: Seq[Int], bytes: Long, session: SparkSession = spark): Option[Orientation] =
    Orientations.withinLimit(
      None,
      Orientation.all,
      Algorithm.CoCoA,
      TestData.claimed(session.sparkContext, sizes, numFeatures = 100),
      outputs = 1,
      numWorkers = 4,
      None,
      DwellConf(session).copy(maxResultBytes = bytes))

  test(
    "the solver chooses where there is room for either, and rows are split where there is none for one number a row") {
    val most = Int.MaxValue - 16
    assert(within(Seq(1000, 1000), 1L << 30).isEmpty)
    assert(within(Seq(900000), 1L << 20).contains(Orientation.Dual))
    // No limit of Spark, but an array has one.
    assert(within(Seq(most, most, most), Long.MaxValue).contains(Orientation.Dual))
    val e = intercept[IllegalArgumentException](within(Seq(1000), 100L))
    assert(e.getMessage.contains("spark.driver.maxResultSize") && e.getMessage.endsWith("raise it"))
  }

  test("rows are split where tasks have no memory for numbers of all rows") {
    SparkSuite.withMemory(slots = 2, bytes = 20000000L) { session =>
      // Four vectors of a task's 10 MB.
      assert(within(Seq(300000), Long.MaxValue, session).isEmpty)
      assert(within(Seq(400000), Long.MaxValue, session).contains(Orientation.Dual))
    }
  }
}
