package dwell.solver.sgd.leader

import dwell.comm.Replicas
import dwell.fit.{Attempt, FitPlan, Timeline}
import dwell.report.RoundRecord
import dwell.solver.problem.{GradientAlgorithm, LinearProblem, Trained}
import dwell.solver.sgd.contract.{SgdMessage, SgdReply}

/** A fit by a gradient algorithm: model averaging, L-BFGS, or one after the other. */
private[solver] final case class SgdPlan(id: Long, task: SgdTask, algorithm: GradientAlgorithm)
    extends FitPlan[SgdMessage, SgdReply, Trained] {

  override def problem: LinearProblem = task.problem

  override def vectorLength: Int = task.vectorLength

  override def lead(workers: Replicas[SgdMessage, SgdReply], attempt: Attempt)(
      completed: RoundRecord => Unit): Trained = {
    val timeline = new Timeline(completed)
    val asked = new SgdWorkers(workers, task, attemptId(attempt.number))
    val certificate = new ModelCertificate(asked, task)
    val start = problem.initial match {
      case Some((coefficients, intercepts)) =>
        val model = coefficients ++ intercepts
        Reached(model, certificate.objective(model), converged = false)
      case None => task.priorModel
    }
    timeline.begin(start.objective, Double.NaN)
    val averaged =
      if (algorithm.averages) new ModelAveraging(asked, task, attempt, timeline).run(start, algorithm.refines)
      else start
    val reached = if (algorithm.refines) new QuasiNewton(asked, task, timeline).run(averaged) else averaged
    val model = centred(reached.model)
    val certified = certificate.of(model)
    val coefficients = task.numFeatures * task.outputs
    Trained(
      model.take(coefficients),
      model.drop(coefficients),
      certified.objective,
      certified.dual,
      reached.converged,
      drift = 0.0,
      asked.solvers,
      timeline.records)
  }

  /**
   * The equivalent softmax model whose coefficients of a feature, and intercepts, have mean 0 over the classes, as in
   * Spark: adding a number to all coefficients of a feature does not change the softmax. Centring gives the smallest L2
   * penalty. It could raise an L1 penalty, so with one only the intercepts are centred.
   */
  private def centred(model: Array[Double]): Array[Double] = {
    val outputs = task.outputs
    if (outputs == 1) model
    else {
      val result = model.clone()
      val numFeatures = task.numFeatures
      val first = if (problem.l1 > 0.0) numFeatures else 0
      var j = first
      while (j <= numFeatures) {
        var mean = 0.0
        var c = 0
        while (c < outputs) {
          mean += result(j * outputs + c)
          c += 1
        }
        mean /= outputs
        c = 0
        while (c < outputs) {
          result(j * outputs + c) -= mean
          c += 1
        }
        j += 1
      }
      result
    }
  }
}
