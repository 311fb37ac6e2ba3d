package dwell.solver.sgd.leader

import dwell.comm.Replicas
import dwell.fit.{Attempt, FitPlan, Timeline}
import dwell.report.RoundRecord
import dwell.solver.problem.{GradientAlgorithm, InterceptSearch, LinearProblem, MarginLoss, SgdLoss, Softmax, Squared, Trained}
import dwell.solver.sgd.contract.{SgdLayout, SgdMessage, SgdProblem, SgdReply}

/** A fit by gradients of the rows: model averaging, L-BFGS, or the one after the other. */
private[solver] final case class SgdPlan(id: Long, problem: LinearProblem, numFeatures: Int, facts: RowFacts)
    extends FitPlan[SgdMessage, SgdReply, Trained] {

  val sgd: SgdProblem = SgdProblem(
    problem.classes.fold[SgdLoss](MarginLoss(problem.loss))(Softmax),
    problem.l1,
    problem.l2,
    problem.intercept,
    facts.rows / facts.totalWeight)

  /** Outputs of the model, C. */
  def outputs: Int = sgd.loss.outputs

  override def vectorLength: Int = SgdLayout.entries(numFeatures, outputs)

  def scaleOf(feature: Int): Double = if (facts.scale == null) 1.0 else facts.scale(feature)

  override def lead(workers: Replicas[SgdMessage, SgdReply], attempt: Attempt)(
      completed: RoundRecord => Unit): Trained = {
    val algorithm = problem.algorithm.asInstanceOf[GradientAlgorithm]
    val timeline = new Timeline(completed)
    val asked = new SgdWorkers(workers, this, attemptId(attempt.number))
    val certificate = new ModelCertificate(asked, this)
    val start = problem.initial match {
      case Some((coefficients, intercepts)) =>
        val model = coefficients ++ intercepts
        Reached(model, certificate.objective(model), converged = false)
      case None => priorModel
    }
    timeline.begin(start.objective, Double.NaN)
    val averaged =
      if (algorithm.averages) new ModelAveraging(asked, this, attempt, timeline).run(start, algorithm.refines)
      else start
    val reached = if (algorithm.refines) new QuasiNewton(asked, this, timeline).run(averaged) else averaged
    val model = centred(reached.model)
    val certified = certificate.of(model)
    val coefficients = numFeatures * outputs
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

  /** The best model without coefficients, and its objective. */
  private def priorModel: Reached = {
    val model = new Array[Double](vectorLength)
    val intercepts = if (problem.intercept) priorIntercepts else new Array[Double](outputs)
    System.arraycopy(intercepts, 0, model, numFeatures * outputs, outputs)
    val b = intercepts(0)
    val objective = sgd.loss match {
      case MarginLoss(Squared) => (facts.labelVariance + math.pow(facts.labelMean - b, 2.0)) / 2.0
      case MarginLoss(loss) =>
        val Array(negative, positive) = facts.classWeights
        (negative * loss.value(b, -1.0) + positive * loss.value(b, 1.0)) / facts.totalWeight
      case Softmax(_) =>
        val highest = intercepts.max
        val logSum = highest + math.log(intercepts.map(z => math.exp(z - highest)).sum)
        facts.classWeights.indices.map(c => facts.classWeights(c) * (logSum - intercepts(c))).sum / facts.totalWeight
    }
    Reached(model, objective, converged = false)
  }

  /**
   * A curvature that the objective has in every direction: that of the L2 penalty or, if it is less, that of the mean loss along an
   * intercept, which has no penalty. The latter is that of the cross entropy at the prior model for all losses of classes.
   */
  def leastCurvature: Double =
    if (problem.intercept) math.min(sgd.l2, interceptCurvature) else sgd.l2

  private def interceptCurvature: Double =
    if (facts.classWeights == null) 1.0
    else facts.classWeights.filter(_ > 0.0).map(_ / facts.totalWeight).map(share => share * (1.0 - share)).min

  private def priorIntercepts: Array[Double] = sgd.loss match {
    case MarginLoss(Squared) => Array(facts.labelMean)
    case MarginLoss(loss) => Array(InterceptSearch.alone(loss, facts.classWeights(1), facts.classWeights(0)))
    case Softmax(_) =>
      // As Spark starts: a class that does not occur has a finite intercept as well.
      val logs = facts.classWeights.map(math.log1p)
      logs.map(_ - logs.sum / logs.length)
  }

  /**
   * The softmax does not change when a number is added to all coefficients of a feature: as Spark does, those are returned
   * whose mean over the classes is 0, and so for the intercepts. It is the smallest L2 penalty; an L1 penalty it could raise.
   */
  private def centred(model: Array[Double]): Array[Double] =
    if (problem.classes.isEmpty) model
    else {
      val result = model.clone()
      val first = if (sgd.l1 > 0.0) numFeatures else 0
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
