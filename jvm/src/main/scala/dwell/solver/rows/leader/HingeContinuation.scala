package dwell.solver.rows.leader

import dwell.fit.Timeline
import dwell.problem.Algorithm

/**
 * The hinge by L-BFGS on smoothed hinges whose corners become sharper from stage to stage. The subgradients of the hinge itself,
 * on which Spark's LinearSVC runs OWL-QN, change at each corner, and its model is then a matter of luck.
 *
 * With the corner rounded off over a width of gamma, F_gamma <= F <= F_gamma + gamma / 2 for every model (Nesterov, Smooth
 * minimization of non-smooth functions, Math. Program. 103, 2005, section 2). So a lower bound of F_gamma is one of F, and the
 * last stage, whose gamma is the tolerance, comes as near to the optimum as the fit has to. Without a penalty there is no bound, and a stage
 * ends by Spark's rule.
 *
 * @param passes
 *   for a task with another loss
 * @param proof
 *   of F
 */
private[rows] final class HingeContinuation(
    passes: RowTask => RowPasses[_],
    task: RowTask,
    timeline: Timeline,
    proof: Proof) {
  import HingeContinuation._

  private val problem = task.problem
  private val objective = new ModelCertificate(passes(task), task)

  /** Whether an iteration takes little beside the job or the pass over the data that Spark's own takes. */
  private val isCheap = task.numFeatures <= FewFeatures || task.facts.rows >= 2L * task.numFeatures

  /** Iterations of a stage, and the last round. Spark's own code makes `problem.maxRounds` in all. */
  private val (ofStage, last) = {
    val most = problem.maxRounds - timeline.rounds
    if (isCheap && objective.exists) (most, timeline.rounds + MostStages * most)
    else (math.max(1, most / FewStages), timeline.rounds + most)
  }

  /** The last gamma. */
  private val sharpest = math.max(problem.tolerance, Sharpest)

  /** Goes from `start` from stage to stage. */
  def run(start: Reached): Reached = {
    val gap = (start.objective - proof.lowerBound) / start.objective
    var best = start
    var (model, gamma) =
      if (gap.isInfinite) (start, Widest)
      else if (isCheap && gap > FarFromOptimum) (task.priorModel, Widest)
      else (start, 2.0 * gap)
    // Classes that a plane separates leave no loss.
    def proven =
      proof.suffices(best.objective, problem.tolerance) || best.objective <= problem.tolerance * start.objective
    while (gamma > 0.0 && !proven && timeline.rounds < last) {
      gamma = if (gamma < Sharper * sharpest) sharpest else gamma
      model = stage(gamma, model)
      if (model.objective < best.objective) best = model
      gamma = if (gamma <= sharpest) 0.0 else gamma / Sharper
    }
    best.copy(converged = proven || !objective.exists && best.converged)
  }

  /** The model that minimises F_gamma, with its F. */
  private def stage(gamma: Double, from: Reached): Reached = {
    val smoothed = task.copy(problem = problem.copy(
      loss = task.objective.loss.smoothed(gamma),
      algorithm = Some(Algorithm.LBFGS),
      tolerance = math.max(sharpest / 2.0, Accuracy * gamma),
      maxRounds = math.min(last, timeline.rounds + ofStage)))
    val asked = passes(smoothed)
    val certificate = new ModelCertificate(asked, smoothed)
    val stageProof = if (objective.exists) Some(new Proof(certificate, proof.lowerBound - gamma / 2.0)) else None
    val found = new QuasiNewton(asked, smoothed, timeline, stageProof, gamma / 2.0)
      .run(from.copy(objective = certificate.objective(from.model)))
    stageProof.foreach { bound =>
      bound.renew(found.model)
      proof.raise(bound.lowerBound)
    }
    Reached(found.model, objective.objective(found.model), found.converged)
  }
}

private object HingeContinuation {

  /** So long vectors are a millisecond of the leader's work in an iteration. */
  private val FewFeatures = 10000

  private val MostStages = 7
  private val FewStages = 3

  /** A relative gap. A model that is nearer to the optimum is a good start for corners that are as sharp as it is near. */
  private val FarFromOptimum = 1e-3

  /** Wider corners take a large part of all rows for support vectors. */
  private val Widest = 1.0

  /** Gradients of sharper corners are rounding for the most part. */
  private val Sharpest = 1e-8

  /** From a stage to the next. Larger factors take fewer stages, and more iterations in all. */
  private val Sharper = 10.0

  /** F_gamma is solved to this part of gamma, relatively: more would be lost in the next stage. */
  private val Accuracy = 0.05
}
