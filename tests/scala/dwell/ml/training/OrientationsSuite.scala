package dwell.ml.training

import dwell.SparkSuite
import dwell.data.TestData
import dwell.fit.DwellConf
import dwell.solver.problem.{Algorithm, Orientation}

/** The orientations whose vectors there is room for. */
class OrientationsSuite extends SparkSuite {

  private def within(sizes: Seq[Int], bytes: Long): Either[String, Option[Orientation]] =
    Orientations.withinLimit(
      None,
      Orientation.all,
      Algorithm.CoCoA,
      TestData.claimed(sc, sizes, numFeatures = 100),
      outputs = 1,
      numWorkers = 4,
      None,
      DwellConf(spark).copy(maxResultBytes = bytes))

  test(
    "the solver chooses where there is room for either, and rows are split where there is none for one number a row") {
    val most = Int.MaxValue - 16
    assert(within(Seq(1000, 1000), 1L << 30).contains(None))
    assert(within(Seq(most), 1L << 30).contains(Some(Orientation.Dual)))
    // No limit of Spark, but an array has one.
    assert(within(Seq(most, most, most), Long.MaxValue).contains(Some(Orientation.Dual)))
    assert(within(Seq(1000), 100L).left.exists(_.contains("spark.driver.maxResultSize")))
  }
}
