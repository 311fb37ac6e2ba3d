package dwell.solver.rows.leader

import dwell.comm.Replicas
import dwell.fit.{Attempt, FitPlan, Timeline}
import dwell.problem.GradientAlgorithm
import dwell.record.{FitFacts, RoundRecord}
import dwell.solver.linear.{LinearProblem, LinearSolution, SoftmaxCentre}
import dwell.solver.rows.worker.SgdMessage

/**
 * A fit by a gradient algorithm: model averaging, L-BFGS, or one after the other.
 *
 * @param after
 *   what coordinate descent leaves to it
 */
private[solver] final case class SgdPlan(id: Long, task: SgdTask, algorithm: GradientAlgorithm, after: Option[Handover])
    extends FitPlan[SgdMessage, Unit, LinearSolution] {

  override def problem: LinearProblem = task.problem

  override def vectorLength: Int = task.vectorLength

  override def lead(workers: Replicas[SgdMessage, Unit], attempt: Attempt)(
      completed: RoundRecord => Unit): LinearSolution = {
    val timeline = new Timeline(completed)
    val asked = new SgdWorkers(workers, task, attemptId(attempt.number))
    val certificate = new ModelCertificate(asked, task)
    val start = problem.initial match {
      case Some((coefficients, intercepts)) =>
        val model = coefficients ++ intercepts
        Reached(model, certificate.objective(model), converged = false)
      case None => task.priorModel
    }
    after match {
      case Some(handover) => timeline.follow(handover.rounds)
      case None => timeline.begin(start.objective, Double.NaN)
    }
    val isHinge = algorithm.refines && task.sgd.loss.curvature.isInfinite
    val proof =
      if (after.isEmpty && !isHinge) None else Some(new Proof(certificate, after.fold(Double.NaN)(_.lowerBound)))
    val averaged =
      if (algorithm.averages) new ModelAveraging(asked, task, attempt, timeline, start, algorithm.refines).run()
      else start
    val reached = proof match {
      case Some(proof) if isHinge =>
        new HingeContinuation(workers, task, attemptId(attempt.number), timeline, proof).run(averaged)
      case _ if algorithm.refines => new QuasiNewton(asked, task, timeline, proof).run(averaged)
      case _ => averaged
    }
    val model = SoftmaxCentre(problem, reached.model)
    val certified = certificate.of(model)
    proof.foreach(_.raise(certified.dual))
    val dual = proof.map(_.lowerBound).filterNot(_.isInfinite).getOrElse(certified.dual)
    val coefficients = task.numFeatures * task.outputs
    LinearSolution(
      model.take(coefficients),
      model.drop(coefficients),
      FitFacts(rounds = timeline.records, objective = certified.objective, dual = dual, converged = reached.converged))
  }
}

/**
 * What coordinate descent leaves to L-BFGS.
 *
 * @param rounds
 *   its rounds
 * @param lowerBound
 *   of F over all models
 */
private[solver] final case class Handover(rounds: Seq[RoundRecord], lowerBound: Double)
