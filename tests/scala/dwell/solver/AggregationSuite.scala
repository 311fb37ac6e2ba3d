package dwell.solver

import scala.util.{Random, Using}

import org.apache.spark.ml.linalg.Vectors

import dwell.SparkSuite
import dwell.data.TrainingReader
import dwell.data.block.LabeledRow
import dwell.fit.{DwellConf, SolverSettings}
import dwell.jni.ResultHeader
import dwell.problem.{Algorithm, Orientation}
import dwell.solver.linear.LinearSolution

/** The mode that takes over if a gang has no slots. */
class AggregationSuite extends SparkSuite {

  private val Rows = 300
  private val Workers = 5 // more than the session has slots

  private def solve(maxResultBytes: Long): LinearSolution = {
    val rows = sc.parallelize(0 until Rows, 2).map { j =>
      val random = new Random(j)
      LabeledRow(random.nextGaussian(), 1.0, Vectors.dense(Array.fill(20)(random.nextGaussian())))
    }
    val problem = TestProblem.linear.copy(
      algorithm = Some(Algorithm.CoCoA),
      tolerance = 1e-8,
      localWork = Some(1.0),
      orientation = Some(Orientation.Primal),
      numWorkers = Workers,
      settings = SolverSettings(1, DwellConf(spark).gangPatienceMillis, maxResultBytes))
    Using.resource(new LinearTrainer(TrainingReader.read(rows.map(_.toInternal), 20, "modes")))(_.solve(problem))
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
