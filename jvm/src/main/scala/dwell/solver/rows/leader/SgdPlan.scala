package dwell.solver.rows.leader

import dwell.comm.Replicas
import dwell.fit.{Attempt, FitPlan, Timeline}
import dwell.problem.GradientAlgorithm
import dwell.record.RoundRecord
import dwell.solver.linear.{LinearProblem, LinearSolution}
import dwell.solver.rows.search.{SearchAnswer, SearchMessage}
import dwell.solver.rows.worker.{PassCall, SgdMessage}

/**
 * A fit by model averaging, or by L-BFGS after coordinate descent, on the rows that were dealt for it.
 *
 * @param after
 *   what coordinate descent leaves to it
 */
private[solver] final case class SgdPlan(
    id: Long,
    task: SgdTask,
    partitions: PartitionFacts,
    algorithm: GradientAlgorithm,
    after: Option[Handover])
    extends FitPlan[SgdMessage, Unit, LinearSolution] {

  override def problem: LinearProblem = task.problem

  override def vectorLength: Int = task.vectorLength

  override def lead(workers: Replicas[SgdMessage, Unit], attempt: Attempt)(
      completed: RoundRecord => Unit): LinearSolution = {
    val fit = attemptId(attempt.number)
    val rounds = new GradientRounds(
      task,
      refines = !algorithm.averages,
      after,
      new Timeline(completed),
      (of: SgdTask) => new RowPasses(workers, of)(pass => SgdMessage(fit, problem.seed, of.sgd, PassCall(pass))))
    rounds.run { (start, timeline) =>
      if (!algorithm.averages) start
      else {
        val asked = new SgdWorkers(workers, task, fit)
        new ModelAveraging(asked, task, partitions, attempt, timeline, start).run()
      }
    }
  }
}

/** A fit by L-BFGS on the rows as they were read. */
private[solver] final case class QuasiNewtonPlan(id: Long, task: SgdTask, after: Option[Handover])
    extends FitPlan[SearchMessage, SearchAnswer, LinearSolution] {

  override def problem: LinearProblem = task.problem

  override def vectorLength: Int = task.vectorLength

  override def lead(workers: Replicas[SearchMessage, SearchAnswer], attempt: Attempt)(
      completed: RoundRecord => Unit): LinearSolution = {
    val passes = (of: SgdTask) => new RowPasses(workers, of, workers.together)(SearchMessage.Pass(_))
    val timeline = new Timeline(completed)
    if (problem.isBounded) new BoundedSearch(passes(task), task, after, timeline).run()
    else new GradientRounds(task, refines = true, after, timeline, passes).run((start, _) => start)
  }
}
