package dwell.bench.sgd

import org.apache.spark.ml.{Estimator, Model}
import org.apache.spark.ml.classification.{LinearSVC => SparkLinearSVC, LogisticRegression => SparkLogisticRegression}

import dwell.bench.Bench
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.problem.Hinge
import dwell.report.FitReport

/**
 * An estimator, from whose fit no model comes out before the end: the models on the way are those of fits of so many
 * iterations, and the seconds those of a whole `fit`, with all that precedes and follows its rounds.
 */
private[bench] final class EstimatorSystem(
    override val name: String,
    problem: SgdProblem,
    estimator: () => Estimator[_],
    params: Seq[(String, Any)],
    override val checkpoints: Seq[Double],
    override val tuning: Option[Tuning] = None)
    extends SgdSystem {

  override def unit: String = "rounds"

  override def run(step: Double, at: Seq[Double]): Seq[Checkpoint] = at.map { rounds =>
    val stepSize = if (step.isNaN) Seq.empty else Seq("stepSize" -> step.toString)
    val fit =
      Bench.timed[Model[_]](Bench.fit(estimator(), problem.data.train, common(rounds) ++ params ++ stepSize: _*))
    // Spark's fit does not tell when its rounds begin: it reads the rows as they come.
    val (made, learning) = FitReport.find(fit.result) match {
      case Some(report) =>
        require(report.solver == "native", report.toText)
        (report.rounds.last.round, report.rounds.last.elapsed)
      case None => (Bench.history(fit.result).length - 1, fit.seconds)
    }
    Checkpoint(made.toDouble, fit.seconds, learning, Bench.coefficients(fit.result).toArray)
  }

  private def common(rounds: Double): Seq[(String, Any)] = Seq(
    "regParam" -> problem.l2,
    "fitIntercept" -> false,
    "standardization" -> false,
    "tol" -> 0.0,
    "maxIter" -> rounds.toInt)
}

private[bench] object EstimatorSystem {
  val DwellRounds: Seq[Double] = Seq(1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0)

  /** Iterations. The line search may need several rounds for one of them. */
  private val SparkIterations = Seq(2.0, 5.0, 10.0, 20.0, 40.0)

  /**
   * Dwell by `ma-sgd`, which searches its step size in the fit, or by `l-bfgs`.
   */
  def dwell(problem: SgdProblem, algorithm: String, aggregation: String): SgdSystem =
    new EstimatorSystem(
      s"Dwell $algorithm, $aggregation",
      problem,
      ours(problem),
      dwellParams(problem, algorithm, aggregation),
      DwellRounds)

  /** The same with a step size that is searched as those of the others are: outside of the fit, by whole fits. */
  def dwellTuned(problem: SgdProblem, tuning: Tuning): SgdSystem =
    new EstimatorSystem(
      "Dwell ma-sgd, gang, tuned",
      problem,
      ours(problem),
      dwellParams(problem, "ma-sgd", "gang"),
      DwellRounds,
      Some(tuning))

  private def ours(problem: SgdProblem): () => Estimator[_] =
    if (problem.loss == Hinge) () => new LinearSVC() else () => new LogisticRegression()

  private def dwellParams(problem: SgdProblem, algorithm: String, aggregation: String): Seq[(String, Any)] =
    Seq("algorithm" -> algorithm, "aggregation" -> aggregation, "numWorkers" -> problem.data.workers)

  /** The estimators that Spark's users have: l-bfgs, or its variant for the hinge loss. */
  def spark(problem: SgdProblem): SgdSystem =
    new EstimatorSystem(
      "Spark l-bfgs",
      problem,
      if (problem.loss == Hinge) () => new SparkLinearSVC() else () => new SparkLogisticRegression(),
      Seq.empty,
      SparkIterations)
}
