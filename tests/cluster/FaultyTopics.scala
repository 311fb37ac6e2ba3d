package dwell.solver

import org.apache.spark.rdd.RDD

import dwell.data.block.LabeledRow
import dwell.data.documents.{DocumentData, DocumentDataset}
import dwell.fit.Aggregation
import dwell.solver.lda.LdaTrainer
import dwell.solver.lda.worker.{BoundCall, Inference, LdaMessage, LdaPriors, LdaProblem, LdaReply, LdaSchedule, LdaStep, RoundCall}

/** A fit of topics whose workers have faults; the features of rows are counts of words. */
private[dwell] final class FaultyTopics(
    rows: RDD[LabeledRow],
    features: Int,
    numWorkers: Int,
    problem: LdaProblem,
    faults: Seq[Fault])
    extends FaultyFit(problem.uid, faults) {

  override protected def run(fits: Int): Solved = {
    val data =
      DocumentDataset.read(rows.map(row => LabeledRow.ofVector(row.features)), features, numWorkers, uid)
    try {
      val step = faulty[DocumentData, LdaMessage, LdaReply](LdaStep(_, _, _), FaultyTopics.asked)
      val s = (1 to fits).map(_ => LdaTrainer.run(data, problem, step)).last
      Solved(s.lambda ++ s.alpha, s.facts)
    } finally data.unpersist()
  }
}

private[dwell] object FaultyTopics {

  private[solver] def asked(data: DocumentData, message: LdaMessage): Asked = message.call match {
    case c: RoundCall => Asked("round", math.round(c.common.seen.toDouble / c.budgets.sum), data.index)
    case _: BoundCall => Asked("bound", 0L, data.index)
  }

  /** Rounds of a tenth of the documents, all of the same size. */
  def problem(aggregation: String, learnAlpha: Boolean, mean: Boolean = false): LdaProblem = LdaProblem(
    FaultyFit.uid(),
    LdaPriors(Array.fill(3)(0.1), eta = 0.1),
    LdaSchedule(tau0 = 10.0, kappa = 0.7),
    fraction = 0.1,
    iterations = 12,
    localBatch = Some(20),
    learnAlpha,
    Aggregation.named(aggregation),
    seed = 1L,
    FaultyFit.settings,
    Inference(mean = mean))

  /** One round, longer than any test waits. */
  def endless(aggregation: String): LdaProblem =
    problem(aggregation, learnAlpha = false)
      .copy(schedule = LdaSchedule(tau0 = 1e15, kappa = 1.0), fraction = 1e6, iterations = 1)
}
