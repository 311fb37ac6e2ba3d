package dwell.solver

import java.util.UUID

import scala.annotation.tailrec

import dwell.comm.Workers
import dwell.data.{LocalData, TrainingRows}
import dwell.data.rows.{BlockData, RowForm}
import dwell.fit.{Aggregation, FitRunner}
import dwell.problem.{MarginLoss, Orientation}
import dwell.record.RoundRecord
import dwell.solver.cd.leader.{CdPlan, DualPlan, PrimalPlan}
import dwell.solver.cd.worker.{CdMessage, CdReply, CdStep}
import dwell.solver.choice.{Choice, DataFacts, Handover, Method, MethodChoice, MoveForecast, Room}
import dwell.solver.linear.{LinearProblem, LinearSolution}
import dwell.solver.newton.leader.{NewtonFacts, NewtonPlan, NewtonTask}
import dwell.solver.pass.{PassMessage, PassStep}
import dwell.solver.rows.leader.{AveragingPlan, Before, PartitionFacts, QuasiNewton, RowStatistics, RowTask, SearchPlan}
import dwell.solver.rows.search.{BreezeSearch, SearchStep}
import dwell.solver.rows.worker.{SgdMessage, SgdStep}
import dwell.spark.NativeLibrary

/**
 * Trains linear models on one set of rows. It brings the data into the form of each method once. Each fit computes its own certificate.
 *
 * Not for concurrent use: callers take turns.
 *
 * @param step
 *   the worker's part of an exchange of coordinate descent
 * @param averagingStep
 *   the worker's part of an exchange of model averaging
 * @param passStep
 *   the worker's part of a pass
 * @param adds
 *   whether the leader of coordinate descent adds the workers' steps without a line search (Smith et al. 2018, gamma = 1, sigma' = K),
 *   which is the reference for searched steps
 * @param sums
 *   of the rows' folds, in a search
 * @param kept
 *   models that fits start from
 */
final class LinearTrainer(
    val rows: TrainingRows,
    step: Workers.Step[LocalData, CdMessage, CdReply] = CdStep(_, _, _),
    averagingStep: Workers.Step[LocalData, SgdMessage, Unit] = SgdStep(_, _, _),
    passStep: Workers.Step[BlockData, PassMessage, Unit] = PassStep(_, _, _),
    adds: Boolean = false,
    sums: Option[FoldSums.OfSet] = None,
    kept: KeptFits = new KeptFits)
    extends AutoCloseable {
  import LinearTrainer._

  private val starts = new WarmStarts(kept, free)
  private val run = new PlanRunner(rows)

  /** Whether a trial of the dual orientation has failed on these rows. */
  private var triedInVain = false

  /**
   * Trains a model.
   *
   * @throws IllegalArgumentException
   *   if the orientation or the algorithm asked for cannot solve the problem
   * @throws dwell.jni.NativeUnavailableException
   *   if the library cannot load
   */
  def solve(problem: LinearProblem): LinearSolution = {
    NativeLibrary.require()
    rows.occurring match {
      case None => solved(problem)
      case Some(occurring) => Narrowed.spread(solved(Narrowed.problem(problem, occurring)), occurring)
    }
  }

  private def solved(problem: LinearProblem): LinearSolution = {
    val room = Room.of(problem, rows)
    val choice = MethodChoice(problem, DataFacts.of(rows), room, mayTry = !triedInVain)
    val first = choice.method match {
      case Method.Newton => byNewton(problem, choice)
      case Method.Search => bySearch(problem, choice, after = None)
      case Method.Averaging => byAveraging(problem, choice)
      case Method.Descent(in, _) => byDescent(problem, choice, in, tried = None)
    }
    proven(problem, choice, first, room.hasSearch(problem.loss, rows.numFeatures))
  }

  /** The solution, or what other methods make of it where it has no proof. */
  @tailrec
  private def proven(
      problem: LinearProblem,
      choice: Choice,
      solution: LinearSolution,
      hasRoom: Boolean): LinearSolution =
    Handover.after(choice.method, Handover.Ended(problem, solution, hasRoom)) match {
      case None => solution
      case Some((Method.Descent(in, _), why)) =>
        triedInVain = true
        val primal = Choice(Method.Descent(in), s"${choice.reason}; $why")
        val second = byDescent(problem, primal, in, Some(solution))
        proven(problem, primal, Continued.byDescent(problem, solution, second), hasRoom)
      case Some((_, why)) => Continued.bySearch(problem, solution, searched(problem, choice, solution), why)
    }

  /**
   * Lets L-BFGS do what Spark's own code would do. With a smooth loss it starts where Spark's does: after a start near the optimum,
   * its first corrections tell nothing of flat directions, in which it then has to go far, and line searches fail.
   */
  private def searched(problem: LinearProblem, choice: Choice, first: LinearSolution): LinearSolution = {
    // With a scale of the errors a pass is cheap, and the search ends where it gains no more.
    val more = problem.maxRounds * (if (problem.loss.epsilon.isEmpty) 1 else MostOfScale)
    val rest = problem.copy(
      initial =
        if (problem.loss.curvature.isInfinite) Some((first.coefficients, first.intercepts)) else problem.initial,
      maxRounds = first.facts.rounds.last.round + more)
    val isDealt = choice.method.orientation.contains(Orientation.Dual)
    bySearch(rest, Choice(Method.Search, ""), Some(Before(first.facts.rounds, first.facts.dual)), isDealt)
  }

  /** @param tried what a trial in the other orientation, which failed, has found */
  private def byDescent(
      problem: LinearProblem,
      choice: Choice,
      orientation: Orientation,
      tried: Option[LinearSolution]): LinearSolution = {
    val loss = problem.loss match {
      case loss: MarginLoss => loss
      case other => throw new IllegalArgumentException(s"coordinate descent does not train the $other loss")
    }
    val started = System.nanoTime()
    val (parts, leader, from) = orientation match {
      case Orientation.Primal =>
        val data = rows.columns(problem.numWorkers)
        val plan = PrimalPlan(rows.numRows.toInt, rows.totalWeight, rows.labelMean, data.columnsPerPartition, adds)
        (Parts.of(data), plan, starts.primal(problem))
      case Orientation.Dual =>
        val data = rows.scaled(problem.numWorkers, form(problem))
        val (from, model) = starts.dual(problem)
        val plan = DualPlan(
          data.summary,
          if (DualPlan.averages(problem, data.summary.numPartitions)) data.holders else null,
          rows.numFeatures,
          rows.labelFacts(problem.loss.labels),
          model.map { case (coefficients, intercept) => intercept + meanMargin(data.summary.mean, coefficients) },
          adds)
        (Parts.of(data), plan, from)
    }
    val onTrial = choice.method == Method.Descent(orientation, onTrial = true)
    val rounds = tried.fold(Seq.empty[RoundRecord])(_.facts.rounds)
    val plan = CdPlan(newId, problem, loss, rows.numFeatures, parts.nonzeros.length, leader, from, onTrial, rounds)
    run(plan, problem, choice, parts, started, step) { (done, fit) =>
      if (done.stalled) free(Seq(fit)) else starts.keepDescent(problem, orientation, done, fit)
    }
  }

  private def byAveraging(problem: LinearProblem, choice: Choice): LinearSolution = {
    val started = System.nanoTime()
    val data = rows.scaled(problem.numWorkers, form(problem).copy(mixed = true))
    val plan = AveragingPlan(newId, rowTask(problem), PartitionFacts.of(rows, data.summary))
    run(plan, problem, choice, Parts.of(data), started, averagingStep)((_, fit) => free(Seq(fit)))
  }

  /** @param isDealt whether rows were dealt to workers for coordinate descent, and serve as they are */
  private def bySearch(
      problem: LinearProblem,
      choice: Choice,
      after: Option[Before],
      isDealt: Boolean = false): LinearSolution = {
    val started = System.nanoTime()
    val from = if (after.isEmpty) starts.search(problem).map(modelOf) else None
    val placed = problem.copy(aggregation = whereItHasRoom(problem), initial = problem.initial.orElse(from))
    def even = problem.numWorkers > 0 ||
      MoveForecast.pays(DataFacts.of(rows), rows.bytesByRow, problem.loss.outputs, problem.maxRounds)
    val parts =
      if (isDealt) Parts.of(rows.scaled(problem.numWorkers, form(problem)).blocks)
      else Parts.of(rows.blocks(problem.numWorkers, even))
    val plan = SearchPlan(newId, rowTask(placed), after)
    val solution = run(plan, problem, choice, parts, started, new SearchStep(passStep))((_, _) => ())
    starts.keepSearch(problem, solution)
    solution
  }

  private def byNewton(problem: LinearProblem, choice: Choice): LinearSolution = {
    val started = System.nanoTime()
    val loss = problem.loss
    val data = rows.blocks(problem.numWorkers, even = false)
    val ofFolds = sums.filter(_.serve(problem, features))
    // About a centre that is not its own mean, a feature without nonzeros is a constant as well.
    val constant =
      ofFolds.fold(rows.constant)(_ => features.deviation.indices.filter(features.deviation(_) == 0.0).toArray)
    val facts =
      NewtonFacts(rows.numRows, ofFolds.fold(rows.centre)(_.centre), constant, rows.labelFacts(loss.labels))
    val near = starts.newton(problem)
    val first = starts.firstPass(problem).orElse(ofFolds.map(_.first(problem)))
    val from = near.map(modelOf)
    val warm = problem.copy(initial = problem.initial.orElse(from))
    val plan = NewtonPlan(newId, NewtonTask(warm, loss, facts, first, near.flatMap(_.scale)))
    val solution = run(plan, problem, choice, Parts.of(data), started, passStep)((_, _) => ())
    starts.keepNewton(problem, solution)
    solution.copy(first = None)
  }

  private lazy val features = rows.features(scaleFactor = 0.0, intercept = true)

  /**
   * A model to start from. In a search the fit of another training set may have coefficients of features that are constant here, which no step
   * moves: they are left out.
   */
  private def modelOf(near: LinearSolution): (Array[Double], Array[Double]) =
    if (sums.isEmpty) (near.coefficients, near.intercepts)
    else {
      val outputs = near.intercepts.length
      val own = Array.tabulate(near.coefficients.length) { i =>
        if (features.deviation(i / outputs) == 0.0) 0.0 else near.coefficients(i)
      }
      (own, near.intercepts)
    }

  private def form(problem: LinearProblem): RowForm =
    RowForm(problem.penalty.scaleFactor, problem.intercept, problem.loss.labels)

  private def rowTask(problem: LinearProblem): RowTask = {
    val features = rows.features(problem.penalty.scaleFactor, problem.intercept)
    RowTask(problem, rows.numFeatures, RowStatistics.of(rows, features, rows.labelFacts(problem.loss.labels)))
  }

  private def whereItHasRoom(problem: LinearProblem): Option[Aggregation] = {
    val variables = rows.numFeatures.toLong * problem.loss.outputs
    val bytes =
      if (problem.isBounded) BreezeSearch.bytesWithin(variables)
      else QuasiNewton.bytes(rows.numFeatures, problem.loss.outputs)
    run.withRoom(problem.aggregation, bytes)
  }

  private def free(fits: Seq[Long]): Unit = FitRunner.free(rows.sc, fits, NativeLibrary.free)

  private def newId: Long = UUID.randomUUID().getMostSignificantBits

  /** Frees what the fits have left with the workers, and the data. */
  override def close(): Unit =
    try starts.close()
    finally rows.unpersist()
}

private object LinearTrainer {

  /** The most iterations of the search that goes on with a loss that has a scale, in units of `maxIter`. */
  private val MostOfScale = 10

  /**
   * mean^T coefficients, by which the intercept of centred features exceeds the intercept of uncentred ones; 0 without means.
   */
  private def meanMargin(mean: Array[Double], coefficients: Array[Double]): Double =
    if (mean == null) 0.0 else mean.indices.iterator.map(j => mean(j) * coefficients(j)).sum
}
