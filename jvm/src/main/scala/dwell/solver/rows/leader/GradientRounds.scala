package dwell.solver.rows.leader

import dwell.fit.Timeline
import dwell.record.{FitFacts, RoundRecord}
import dwell.solver.linear.{LinearSolution, SoftmaxCentre}

/**
 * The rounds of a fit by a gradient algorithm: model averaging, or L-BFGS.
 *
 * @param refines
 *   whether they are the rounds of L-BFGS
 * @param after
 *   what coordinate descent leaves to it
 * @param passes
 *   for a task, which may have another loss
 */
private[rows] final class GradientRounds(
    task: SgdTask,
    refines: Boolean,
    after: Option[Handover],
    timeline: Timeline,
    passes: SgdTask => RowPasses[_]) {
  private val problem = task.problem

  /** Runs the rounds; `averaged` runs those of model averaging, if there are any, from a start. */
  def run(averaged: (Reached, Timeline) => Reached): LinearSolution = {
    val asked = passes(task)
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
    val isHinge = refines && task.sgd.loss.curvature.isInfinite
    val isProven = after.nonEmpty || isHinge || refines && problem.handsOver && certificate.exists
    // Losses and penalties are not negative.
    val known = after.fold(if (isHinge) Double.NaN else 0.0)(_.lowerBound)
    val proof = Option.when(isProven)(new Proof(certificate, known))
    val first = averaged(start, timeline)
    val reached = proof match {
      case Some(proof) if isHinge => new HingeContinuation(passes, task, timeline, proof).run(first)
      case _ if refines => new QuasiNewton(asked, task, timeline, proof).run(first)
      case _ => first
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
    val coefficients = task.numFeatures * task.outputs
    LinearSolution(
      model.take(coefficients),
      model.drop(coefficients),
      FitFacts(rounds = timeline.records, objective = objective, dual = dual, converged = reached.converged))
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
