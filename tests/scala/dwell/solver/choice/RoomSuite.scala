package dwell.solver.choice

import org.apache.spark.sql.SparkSession

import dwell.SparkSuite
import dwell.data.TestData
import dwell.fit.SolverSettings
import dwell.problem.{Orientation, Penalty, Squared}
import dwell.solver.linear.LinearProblem

/** The orientations whose vectors there is room for. */
class RoomSuite extends SparkSuite {
  import Orientation.{Dual, Primal}

  private def within(sizes: Seq[Int], bytes: Long, session: SparkSession = spark): Seq[Orientation] = {
    val rows = TestData.claimed(session.sparkContext, sizes, numFeatures = 100)
    Room.of(RoomSuite.problem(bytes), rows).orientations(Orientation.all, DataFacts.of(rows))
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

private object RoomSuite {
  private def problem(bytes: Long) = LinearProblem(
    "room",
    None,
    Squared,
    Penalty(l1 = 0.0, l2 = 0.1),
    intercept = true,
    tolerance = 1e-6,
    maxRounds = 100,
    localWork = None,
    orientation = None,
    numWorkers = 4,
    aggregation = None,
    seed = 1L,
    initial = None,
    SolverSettings(1, 10000L, Long.MaxValue, maxResultBytes = bytes))
}
