package dwell.solver

import scala.util.Random

import org.apache.spark.ml.linalg.Vectors

import dwell.SparkSuite
import dwell.data.TrainingReader
import dwell.data.block.LabeledRow
import dwell.fit.{DwellConf, SolverSettings}
import dwell.jni.ResultHeader
import dwell.problem.{Algorithm, Orientation, Penalty, Squared}
import dwell.solver.linear.{LinearProblem, LinearSolution}

/** The mode that takes over if a gang has no slots. */
class AggregationSuite extends SparkSuite {

  private val Rows = 300
  private val Workers = 5 // more than the session has slots

  private def solve(maxResultBytes: Long): LinearSolution = {
    val rows = sc.parallelize(0 until Rows, 2).map { j =>
      val random = new Random(j)
      LabeledRow(random.nextGaussian(), 1.0, Vectors.dense(Array.fill(20)(random.nextGaussian())))
    }
    val settings =
      SolverSettings(1, DwellConf(spark).gangPatienceMillis, maxResultBytes)
    val problem = LinearProblem(
      "modes",
      Some(Algorithm.CoCoA),
      Squared,
      Penalty(l1 = 0.0, l2 = 0.1),
      intercept = true,
      tolerance = 1e-8,
      maxRounds = 100,
      localWork = Some(1.0),
      orientation = Some(Orientation.Primal),
      numWorkers = Workers,
      aggregation = None,
      seed = 1L,
      initial = None,
      settings)
    val solver = new LinearTrainer(TrainingReader.read(rows.map(_.toInternal), 20, "modes"))
    try solver.solve(problem)
    finally solver.close()
  }

  test("driver mode while the vectors of all workers have room on the driver, shuffle mode beyond") {
    val room = Workers * ResultHeader.length(Rows).toLong
    val byDriver = solve(room)
    val byShuffle = solve(room - 1)
    assert(byDriver.facts.aggregation == "driver" && byShuffle.facts.aggregation == "shuffle")
    Seq(byDriver, byShuffle).foreach { solution =>
      assert(
        solution.facts.converged && solution.facts.aggregationReason.contains("2 slots"),
        solution.facts.aggregationReason)
    }
    assert(byDriver.coefficients.sameElements(byShuffle.coefficients))
  }

  test("results of a job take up to maxResultSize, and up to a quarter of the driver's heap") {
    def accepted(maxResult: Long, heap: Long): Long =
      DwellConf(spark).copy(maxResultBytes = maxResult, driverHeap = heap).solverSettings.driverBytes
    assert(accepted(maxResult = 1000L, heap = 8000L) == 1000L)
    assert(accepted(maxResult = 1000L, heap = 2000L) == 500L)
    assert(accepted(maxResult = Long.MaxValue, heap = 2000L) == 500L, "maxResultSize 0 is no limit")
  }
}
