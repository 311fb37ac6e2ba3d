package dwell.solver.choice

import org.apache.spark.sql.SparkSession

import dwell.SparkSuite
import dwell.data.TestData
import dwell.problem.Orientation
import dwell.solver.TestProblem

/** The orientations whose vectors there is room for. */
class RoomSuite extends SparkSuite {
  import Orientation.{Dual, Primal}

  private def within(sizes: Seq[Int], bytes: Long, session: SparkSession = spark): Seq[Orientation] = {
    val rows = TestData.claimed(session.sparkContext, sizes, numFeatures = 100)
    val problem = TestProblem.linear.copy(settings = TestProblem.settings.copy(maxResultBytes = bytes))
    Room.of(problem, rows).orientations(Orientation.all, DataFacts.of(rows))
  }

  test("there is room for either orientation, or for rows where there is none for one number a row") {
    val most = Int.MaxValue - 16
    assert(within(Seq(1000, 1000), 1L << 30) == Seq(Primal, Dual))
    assert(within(Seq(900000), 1L << 20) == Seq(Dual))
    // No limit of Spark, but an array has one.
    assert(within(Seq(most, most, most), Long.MaxValue) == Seq(Dual))
    val e = intercept[IllegalArgumentException](within(Seq(1000), 100L))
    assert(e.getMessage.contains("spark.driver.maxResultSize") && e.getMessage.endsWith("raise it"))
  }

  test("rows are split where tasks have no memory for numbers of all rows") {
    SparkSuite.withMemory(slots = 2, bytes = 20000000L) { session =>
      // Four vectors of a task's 10 MB.
      assert(within(Seq(300000), Long.MaxValue, session) == Seq(Primal, Dual))
      assert(within(Seq(400000), Long.MaxValue, session) == Seq(Dual))
    }
  }
}
