package dwell.solver.rows.leader

import dwell.comm.Replicas
import dwell.fit.{Attempt, FitPlan, Timeline}
import dwell.record.{FitFacts, RoundRecord}
import dwell.solver.linear.{LinearProblem, LinearSolution, SoftmaxCentre}
import dwell.solver.rows.search.{SearchAnswer, SearchMessage}

/**
 * A fit by L-BFGS.
 *
 * @param after
 *   what the method before it leaves to it
 */
private[solver] final case class SearchPlan(id: Long, task: RowTask, after: Option[Before])
    extends FitPlan[SearchMessage, SearchAnswer, LinearSolution] {

  override def problem: LinearProblem = task.problem

  override def vectorLength: Int = task.vectorLength

  override def lead(workers: Replicas[SearchMessage, SearchAnswer], attempt: Attempt)(
      completed: RoundRecord => Unit): LinearSolution = {
    val passes = (of: RowTask) => new RowPasses(workers, of, workers.together)(SearchMessage.Pass(_))
    val timeline = new Timeline(completed)
    after.foreach(before => timeline.follow(before.rounds))
    if (problem.isBounded) new BoundedSearch(passes(task), task, timeline).run() else free(passes, timeline)
  }

  /** Without bounds of variables. */
  private def free(passes: RowTask => RowPasses[_], timeline: Timeline): LinearSolution = {
    val asked = passes(task)
    val certificate = new ModelCertificate(asked, task)
    val start = certificate.start
    if (after.isEmpty) timeline.begin(start.objective, Double.NaN)
    val isHinge = task.objective.loss.curvature.isInfinite
    val isProven = after.nonEmpty || isHinge || problem.isAuto && certificate.exists
    // Losses and penalties are not negative.
    val known = after.fold(if (isHinge) Double.NaN else 0.0)(_.lowerBound)
    val proof = if (isProven) Some(new Proof(certificate, known)) else None
    val reached = proof match {
      case Some(proof) if isHinge => new HingeContinuation(passes, task, timeline, proof).run(start)
      case _ => new QuasiNewton(asked, task, timeline, proof).run(start)
    }
    val model = SoftmaxCentre(problem, reached.model)
    val (objective, dual) = proof match {
      case Some(proof) if !isHinge && task.outputs == 1 && proof.suffices(reached.objective, problem.tolerance) =>
        (reached.objective, proof.lowerBound)
      case _ =>
        val certified = certificate.of(model)
        proof.foreach(_.raise(certified.dual))
        (certified.objective, proof.map(_.lowerBound).filterNot(_.isInfinite).getOrElse(certified.dual))
    }
    task.solution(
      model,
      FitFacts(rounds = timeline.records, objective = objective, dual = dual, converged = reached.converged))
  }
}
