package dwell.solver.sgd

import java.nio.{ByteBuffer, ByteOrder}

import scala.util.Random

import org.apache.spark.ml.linalg.Vectors

import dwell.SparkSuite
import dwell.data.{Flattener, LabeledRow, RowForm, TrainingRows}
import dwell.jni.Cancellation
import dwell.solver.{Aggregation, Algorithm, DescentSettings, LinearProblem, LinearSolution, LinearSolver, Orientation, ResultLayout, RowData, SolverSelection, SolverSettings, Squared}

/** The rounds of model averaging against the definition: local SGD from the average, and the average of what it reaches. */
class ModelAveragingSuite extends SparkSuite {
  import ModelAveragingSuite._

  private def read(): TrainingRows = Flattener.read(
    sc.parallelize(0 until 101, 2).map { j =>
      val random = new Random(j)
      val x = Array.fill(Features)(if (random.nextInt(3) == 0) 0.0 else random.nextGaussian())
      LabeledRow(x.sum + random.nextGaussian(), 0.5 + random.nextInt(3), Vectors.dense(x).compressed)
    },
    Features,
    "averaging")

  private def solve(rows: TrainingRows, workers: Int, rounds: Int): LinearSolution = {
    val settings = SolverSettings(
      1,
      travellingState = false,
      SolverSelection("jvm", fallbackIsError = false),
      adding = false,
      10000L,
      Long.MaxValue)
    val problem = LinearProblem(
      "averaging",
      Algorithm.ModelAveraging,
      Squared,
      l1 = 0.01,
      l2 = 0.1,
      scaleFactor = 0.0,
      intercept = true,
      tolerance = 0.0,
      maxRounds = rounds,
      localWork = Some(1.0),
      orientation = Orientation.Auto,
      numWorkers = workers,
      aggregation = Some(Aggregation.Driver),
      seed = Seed,
      initial = None,
      settings,
      descent = DescentSettings(stepSize = Some(Eta), schedule = Some(StepSchedule.Constant)))
    val solver = new LinearSolver(rows)
    try solver.solve(problem)
    finally solver.close()
  }

  /** The same by the definition. */
  private def expected(rows: TrainingRows, workers: Int, rounds: Int): Array[Double] = {
    val data = rows.rows(workers, RowForm(0.0, intercept = true, signedLabels = false))
    val parts = data.partitions.collect().map(RowData(_, null))
    val problem = SgdProblem(MarginLoss(Squared), 0.01, 0.1, intercept = true, rows.numRows / rows.totalWeight)
    val weights = parts.map(_.partition.weights.sum)
    var model = new Array[Double](Features + 1)
    model(Features) = rows.labelMean
    val places = Array.fill(workers)((0L, 0L))
    for (_ <- 1 to rounds) {
      val bytes = ByteBuffer.allocate(8 * model.length).order(ByteOrder.LITTLE_ENDIAN)
      bytes.asDoubleBuffer().put(model)
      val next = new Array[Double](model.length)
      parts.zipWithIndex.foreach { case (part, k) =>
        val result = SgdLayout.allocate(Features, 1)
        val r = Descend(
          1L,
          Seed,
          problem,
          StepSchedule(StepSchedule.Constant, Eta, 0.0),
          part.partition.numRows.toLong,
          places(k)._1,
          places(k)._2,
          running = false,
          share = 1.0)
        JvmSgd.descend(part, r, bytes.array(), result, Cancellation.NEVER)
        places(k) =
          (ResultLayout.get(result, SgdLayout.Cursor).toLong, ResultLayout.get(result, SgdLayout.Steps).toLong)
        val reached = ResultLayout.vector(result)
        next.indices.foreach(j => next(j) += weights(k) / rows.totalWeight * reached.get(j))
      }
      model = next
    }
    model
  }

  for (workers <- Seq(1, 2, 3)) {
    test(s"$workers workers: the average, weighted by rows, of local descents from the last average") {
      for (rounds <- Seq(1, 4)) {
        val wanted = expected(read(), workers, rounds)
        val solution = solve(read(), workers, rounds)
        assert(solution.rounds.size == rounds + 1)
        val found = solution.coefficients ++ solution.intercepts
        found.zip(wanted).foreach { case (a, b) => assert(math.abs(a - b) <= 1e-12 * (1.0 + math.abs(b))) }
        if (workers == 1) assert(found.sameElements(wanted), "one worker is plain SGD to the bit")
      }
    }
  }

  test("the objective that is returned is that of the model, exactly") {
    val rows = read()
    val data = rows.rows(2, RowForm(0.0, intercept = true, signedLabels = false))
    val parts = data.partitions.collect().map(RowData(_, null))
    val problem = SgdProblem(MarginLoss(Squared), 0.01, 0.1, intercept = true, rows.numRows / rows.totalWeight)
    val total = rows.totalWeight
    val solution = solve(rows, 2, 3)
    val model = solution.coefficients ++ solution.intercepts
    val eager = parts.map(new EagerSgd(_, problem))
    val objective = eager.map(_.lossSum(model)).sum / total + eager.head.penalty(model)
    assert(math.abs(solution.objective - objective) <= 1e-12 * objective)
    assert(solution.dual <= solution.objective)
  }
}

object ModelAveragingSuite {
  private val Features = 7
  private val Seed = 3L
  private val Eta = 0.005
}
