package dwell.solver.sgd.leader

import dwell.comm.Replicas
import dwell.fit.{Attempt, FitPlan, Timeline}
import dwell.report.RoundRecord
import dwell.solver.problem.{GradientAlgorithm, LinearProblem, Trained}
import dwell.solver.sgd.contract.{SgdMessage, SgdReply}

/** A fit by gradients of the rows: model averaging, L-BFGS, or the one after the other. */
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
   * The softmax does not change when a number is added to all coefficients of a feature: as Spark does, those are
   * returned whose mean over the classes is 0, and so for the intercepts. It is the smallest L2 penalty; an L1 penalty
   * it could raise.
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
