package dwell.solver

import scala.util.Random

import org.apache.spark.ml.linalg.Vectors

import dwell.SparkSuite
import dwell.data.TrainingReader
import dwell.data.block.LabeledRow
import dwell.fit.{DwellConf, SolverSelection, SolverSettings}
import dwell.jni.ResultHeader
import dwell.solver.problem.{Algorithm, LinearProblem, LinearSolution, Orientation, Squared}

/** The mode that takes over if a gang has no slots. */
class AggregationSuite extends SparkSuite {

  private val Rows = 300
  private val Workers = 5 // more than the session has slots

  private def solve(maxResultBytes: Long): LinearSolution = {
    val rows = sc.parallelize(0 until Rows, 2).map { j =>
      val random = new Random(j)
      LabeledRow(random.nextGaussian(), 1.0, Vectors.dense(Array.fill(20)(random.nextGaussian())))
    }
    val selection = SolverSelection("native", fallbackIsError = true)
    val settings =
      SolverSettings(
        1,
        travellingState = false,
        selection,
        adding = false,
        DwellConf(spark).gangPatienceMillis,
        maxResultBytes,
        rowsOfWorkers = 0)
    val problem = LinearProblem(
      "modes",
      Algorithm.CoCoA,
      Squared,
      l1 = 0.0,
      l2 = 0.1,
      scaleFactor = 0.0,
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
    assert(byDriver.aggregation == "driver" && byShuffle.aggregation == "shuffle")
    Seq(byDriver, byShuffle).foreach { solution =>
      assert(solution.converged && solution.aggregationReason.contains("2 slots"), solution.aggregationReason)
    }
    assert(byDriver.coefficients.sameElements(byShuffle.coefficients))
  }
}
