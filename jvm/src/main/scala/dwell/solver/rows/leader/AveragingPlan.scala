package dwell.solver.rows.leader

import dwell.comm.Replicas
import dwell.fit.{Attempt, FitPlan, Timeline}
import dwell.record.{FitFacts, RoundRecord}
import dwell.solver.average.ModelWorkers
import dwell.solver.linear.{LinearProblem, LinearSolution, SoftmaxCentre}
import dwell.solver.rows.worker.{PassCall, SgdMessage}

/** A fit by model averaging. */
private[solver] final case class AveragingPlan(id: Long, task: RowTask, partitions: PartitionFacts)
    extends FitPlan[SgdMessage, Unit, LinearSolution] {

  override def problem: LinearProblem = task.problem

  override def vectorLength: Int = task.vectorLength

  override def lead(workers: Replicas[SgdMessage, Unit], attempt: Attempt)(
      completed: RoundRecord => Unit): LinearSolution = {
    val timeline = new Timeline(completed)
    val passes =
      new RowPasses(workers, task)(pass => SgdMessage(problem.seed, task.objective, PassCall(pass)))
    val certificate = new ModelCertificate(passes, task)
    // The best intercept of the hinge is at the corner of most rows, where the steps of a few rows raise the objective however short they are.
    val isAtCorner = problem.initial.isEmpty && task.objective.loss.curvature.isInfinite
    val start = if (isAtCorner) task.zeroModel else certificate.start
    timeline.begin(start.objective, Double.NaN)
    val asked = new ModelWorkers(workers, problem.uid)
    val reached = new ModelAveraging(asked, task, partitions, attempt, timeline, start).run()
    val model = SoftmaxCentre(problem, reached.model)
    val certified = certificate.of(model)
    task.solution(
      model,
      FitFacts(
        rounds = timeline.records,
        objective = certified.objective,
        dual = certified.dual,
        converged = reached.converged))
  }
}
