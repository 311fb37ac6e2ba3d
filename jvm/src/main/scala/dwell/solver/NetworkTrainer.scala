package dwell.solver

import java.util.UUID

import dwell.comm.Workers
import dwell.data.{LocalData, TrainingRows}
import dwell.data.rows.{BlockData, RowForm}
import dwell.fit.FitRunner
import dwell.problem.{Algorithm, Labels, RowUse}
import dwell.solver.choice.{DataFacts, MoveForecast}
import dwell.solver.network.{NetworkAveragingPlan, NetworkMessage, NetworkPlan, NetworkProblem, NetworkSolution, NetworkStep}
import dwell.solver.pass.PassStep
import dwell.solver.rows.search.BreezeSearch
import dwell.spark.{NativeLibrary, WorkerCount}

/** Trains networks. */
object NetworkTrainer {

  /**
   * Trains a network on rows whose labels are the numbers of its classes.
   *
   * @param averagingStep
   *   a worker's part in an exchange of model averaging
   * @throws dwell.jni.NativeUnavailableException
   *   if the library cannot load
   */
  def run(
      rows: TrainingRows,
      problem: NetworkProblem,
      averagingStep: Workers.Step[LocalData, NetworkMessage, Unit] = NetworkStep(_, _, _)): NetworkSolution = {
    val started = System.nanoTime()
    val id = UUID.randomUUID().getMostSignificantBits
    val run = new PlanRunner(rows)
    val (trained, facts) = problem.algorithm match {
      case Algorithm.ModelAveraging =>
        val form = RowForm(0.0, intercept = false, Labels.Classes(problem.layers.last), mixed = true)
        val data = rows.scaled(workers(rows, problem), form)
        val plan = NetworkAveragingPlan(id, problem, data.summary.rowsPerPartition)
        run.told(plan, Parts.of(data), started, averagingStep)(_.facts)((_, fit) =>
          FitRunner.free(rows.sc, Seq(fit), NativeLibrary.free))
      case _ =>
        val aggregation = run.withRoom(problem.aggregation, BreezeSearch.bytes(problem.start.length.toLong))
        val plan = NetworkPlan(id, problem.copy(aggregation = aggregation), rows.numRows)
        run.told(plan, parts(rows, problem), started, PassStep(_, _, _))(_.facts)((_, _) => ())
    }
    trained.copy(facts = facts)
  }

  private def parts(rows: TrainingRows, problem: NetworkProblem): Parts[BlockData] = {
    val even = problem.numWorkers > 0 ||
      MoveForecast.pays(DataFacts.of(rows), rows.bytesByRow, width(rows, problem), problem.maxRounds)
    Parts.of(rows.blocks(workers(rows, problem), even))
  }

  private def workers(rows: TrainingRows, problem: NetworkProblem): Int =
    if (problem.numWorkers > 0) problem.numWorkers
    else {
      val worthAWorker = WorkerCount.worthAWorker(RowUse.Sums, rows.numFeatures) / width(rows, problem)
      WorkerCount.choose(rows.sc, rows.nonzeros, rows.bytesByRow, math.max(1L, worthAWorker))
    }

  /** A value is multiplied by about as many weights as there are for each feature. */
  private def width(rows: TrainingRows, problem: NetworkProblem): Int =
    math.max(1, problem.start.length / rows.numFeatures)
}
