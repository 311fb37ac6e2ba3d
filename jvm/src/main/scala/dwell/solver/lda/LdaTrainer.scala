package dwell.solver.lda

import java.util.UUID

import dwell.comm.Workers
import dwell.data.documents.{DocumentData, DocumentDataset}
import dwell.fit.FitRunner
import dwell.solver.lda.leader.{LdaPlan, LdaTask}
import dwell.solver.lda.worker.{LdaMessage, LdaProblem, LdaReply, LdaResult, LdaSolution, LdaStep}
import dwell.spark.NativeLibrary

/** Finds topics in documents. */
object LdaTrainer {

  private val Algorithm = "ma-lda"

  /**
   * Finds topics with any local solver.
   *
   * @param step
   *   the worker's part of an exchange
   */
  private[solver] def run(
      data: DocumentDataset,
      problem: LdaProblem,
      step: Workers.Step[DocumentData, LdaMessage, LdaReply]): LdaSolution = {
    val sc = data.sc
    val plan =
      LdaPlan(UUID.randomUUID().getMostSignificantBits, LdaTask(problem, data.vocabulary, data.documentsPerPartition))
    val runner =
      new FitRunner(sc, data.numPartitions, data.partitions, () => data.forBarrier, plan, step, NativeLibrary.free)
    val outcome =
      try runner.run()
      catch {
        case e: Throwable =>
          runner.freeAll()
          throw e
      }
    FitRunner.free(sc, Seq(plan.attemptId(outcome.attempt)), NativeLibrary.free)
    val trained = outcome.trained
    LdaSolution(
      withPrior(LdaResult.numbers(trained.topics, data.vocabulary, problem.priors.topics), problem.priors.eta),
      trained.alpha,
      outcome
        .tell(trained.facts)
        .copy(
          algorithm = Algorithm,
          numRows = data.documents,
          numFeatures = data.vocabulary,
          nonzeros = data.nonzeros,
          nonzerosPerPartition = data.nonzerosPerPartition.toSeq,
          placement = data.placement,
          held = data.held,
          setUpSeconds = data.moveSeconds))
  }

  private def withPrior(lambda: Array[Double], eta: Double): Array[Double] = {
    var j = 0
    while (j < lambda.length) {
      lambda(j) += eta
      j += 1
    }
    lambda
  }

  /** Finds topics with native local solvers. */
  def run(data: DocumentDataset, problem: LdaProblem): LdaSolution = run(data, problem, LdaStep(_, _, _))
}
