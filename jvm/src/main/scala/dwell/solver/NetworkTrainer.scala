package dwell.solver

import java.util.UUID

import dwell.data.TrainingRows
import dwell.data.rows.BlockData
import dwell.problem.RowUse
import dwell.solver.choice.{DataFacts, MoveForecast}
import dwell.solver.network.{NetworkPlan, NetworkProblem, NetworkSolution}
import dwell.solver.pass.PassStep
import dwell.solver.rows.search.BreezeSearch
import dwell.spark.WorkerCount

/** Trains networks. */
object NetworkTrainer {

  /**
   * Trains a network on rows whose labels are the numbers of its classes.
   *
   * @throws dwell.jni.NativeUnavailableException
   *   if the library cannot load
   */
  def run(rows: TrainingRows, problem: NetworkProblem): NetworkSolution = {
    val started = System.nanoTime()
    val run = new PlanRunner(rows)
    val aggregation = run.withRoom(problem.aggregation, BreezeSearch.bytes(problem.start.length.toLong))
    val plan =
      NetworkPlan(UUID.randomUUID().getMostSignificantBits, problem.copy(aggregation = aggregation), rows.numRows)
    val (trained, facts) =
      run.told(plan, parts(rows, problem), started, PassStep(_, _, _))(_.facts)((_, _) => ())
    trained.copy(facts = facts)
  }

  /** The rows of the workers. A value is multiplied by about as many weights as there are for each feature. */
  private def parts(rows: TrainingRows, problem: NetworkProblem): Parts[BlockData] = {
    val width = math.max(1, problem.start.length / rows.numFeatures)
    val worthAWorker = math.max(1L, WorkerCount.worthAWorker(RowUse.Sums, rows.numFeatures) / width)
    val isGiven = problem.numWorkers > 0
    val workers =
      if (isGiven) problem.numWorkers
      else WorkerCount.choose(rows.sc, rows.nonzeros, rows.bytesByRow, worthAWorker)
    val even = isGiven || MoveForecast.pays(DataFacts.of(rows), rows.bytesByRow, width, problem.maxRounds)
    Parts.of(rows.blocks(workers, even))
  }
}
