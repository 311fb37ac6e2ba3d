package dwell.solver

import java.util.UUID

import scala.collection.mutable
import scala.reflect.ClassTag

import org.apache.spark.ExecutorMemory
import org.apache.spark.rdd.RDD

import dwell.comm.Workers
import dwell.data.{ColumnData, LocalData, RowData, TrainingRows}
import dwell.data.columns.ColumnPartition
import dwell.data.rows.{BlockData, BlockDataset, RowDataset, RowForm, RowPartition}
import dwell.fit.{Aggregation, FitPlan, FitRunner}
import dwell.jni.ResultHeader
import dwell.problem.{Algorithm, GradientAlgorithm, Loss, MarginLoss, Orientation, RowUse}
import dwell.record.{HeldBytes, RoundRecord}
import dwell.solver.cd.leader.{CdLeaderPlan, CdPlan, DualPlan, PrimalPlan}
import dwell.solver.cd.worker.{CdMessage, CdReply, CdStep, FromCoefficients, FromFits, StartingPoint}
import dwell.solver.linear.{LinearProblem, LinearSolution}
import dwell.solver.newton.leader.{NewtonFacts, NewtonPlan, NewtonTask}
import dwell.solver.pass.{PassMessage, PassStep}
import dwell.solver.rows.leader.{Handover, PartitionFacts, QuasiNewton, QuasiNewtonPlan, RowFacts, SgdPlan, SgdTask}
import dwell.solver.rows.search.{SearchStep, SparkSearch}
import dwell.solver.rows.worker.{SgdMessage, SgdStep}
import dwell.spark.NativeLibrary

/**
 * Trains linear models on one set of rows. It brings the data into the form of each orientation once. A fit starts from
 * the last one of its family (same loss, scaling, intercept and orientation), which is a feasible start for any
 * penalty. Each fit computes its own certificate.
 *
 * Not for concurrent use: callers take turns.
 *
 * @param step
 *   the worker's part of an exchange of coordinate descent
 * @param gradientStep
 *   the worker's part of an exchange of model averaging
 * @param passStep
 *   the worker's part of a pass
 */
final class LinearTrainer(
    rows: TrainingRows,
    step: Workers.Step[LocalData, CdMessage, CdReply] = CdStep(_, _, _),
    gradientStep: Workers.Step[LocalData, SgdMessage, Unit] = SgdStep(_, _, _),
    passStep: Workers.Step[BlockData, PassMessage, Unit] = PassStep(_, _, _))
    extends AutoCloseable {
  import LinearTrainer._

  private val previous = mutable.Map.empty[Family, Previous]

  /** Whether a trial of the dual orientation has failed on these rows. */
  private var triedInVain = false

  /** The last fit by Newton's method, by loss and whether there is an intercept. */
  private val newtons = mutable.Map.empty[(Loss, Boolean), LinearSolution]

  /** The last fit by L-BFGS that has a proof. */
  private val searches = mutable.Map.empty[Family, LinearSolution]

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
    val choice = OrientationChoice(problem, rows, mayTry = !triedInVain)
    val started = System.nanoTime()
    problem.algorithm match {
      case algorithm: GradientAlgorithm => byGradients(problem, algorithm, algorithm.use, choice, started, after = None)
      case Algorithm.Newton => finished(problem, choice, byNewton(problem, choice, started), problem.loss.hasCorner)
      case Algorithm.CoCoA =>
        problem.loss match {
          case loss: MarginLoss =>
            val first = byCoordinates(problem, loss, choice, started, trial = None)
            if (!first.stalled) finished(problem, choice, first, mayGoOn = true)
            else {
              triedInVain = true
              val primal = choice.afterTrial(first.facts.rounds.last.round)
              val second = byCoordinates(problem, loss, primal, System.nanoTime(), Some(first))
              finished(problem, primal, second, mayGoOn = true)
            }
          case _ => throw notAMargin(problem)
        }
    }
  }

  /** The solution, or what L-BFGS makes of it where the method that the fit has chosen ended without a proof. */
  private def finished(
      problem: LinearProblem,
      choice: OrientationChoice,
      solution: LinearSolution,
      mayGoOn: Boolean): LinearSolution =
    if (solution.stalled || mayGoOn && problem.handsOver && !solution.facts.converged &&
      hasRoom(problem.loss, rows.numFeatures)) handedOver(problem, solution, choice)
    else solution

  private def notAMargin(problem: LinearProblem): IllegalArgumentException =
    new IllegalArgumentException(
      s"algorithm=${problem.algorithm.name} trains a prediction for each row, and the ${problem.loss} needs more. Use algorithm newton" +
        (if (problem.loss.outputs > 1) ", l-bfgs or ma-sgd." else "."))

  /** @param trial what a trial in the other orientation, which failed, has found */
  private def byCoordinates(
      problem: LinearProblem,
      loss: MarginLoss,
      choice: OrientationChoice,
      started: Long,
      trial: Option[LinearSolution]): LinearSolution = {
    val work = choice.orientation match {
      case Orientation.Primal => primal(problem)
      case Orientation.Dual => dual(problem)
    }
    val plan = CdPlan(
      newId,
      problem,
      loss,
      rows.numFeatures,
      work.coordinates,
      work.leaderPlan,
      work.from,
      choice.onTrial,
      trial.fold(Seq.empty[RoundRecord])(_.facts.rounds))
    val solution = run(plan, problem, work.parts, choice, started, step) { (done, attempt) =>
      val fit = plan.attemptId(attempt)
      // In the dual orientation the next fit of the family needs the states; in the primal one it needs the model.
      val keeps = !done.stalled
      val kept = if (choice.orientation == Orientation.Dual && keeps) Some(fit) else None
      if (kept.isEmpty) free(Seq(fit))
      if (keeps) {
        remember(
          problem,
          choice.orientation,
          Previous(done.coefficients, done.intercepts.head, problem.penalty.l2, kept))
      }
    }
    trial.fold(solution) { tried =>
      val (before, facts) = (tried.facts, solution.facts)
      val best = if (before.objective < facts.objective) tried else solution
      val bounded = facts.copy(objective = best.facts.objective, dual = math.max(before.dual, facts.dual))
      best.copy(
        facts = bounded.copy(
          converged = facts.converged || bounded.gap <= problem.tolerance * bounded.objective,
          restarts = before.restarts + facts.restarts,
          setUpSeconds = before.setUpSeconds + facts.setUpSeconds),
        stalled = false)
    }
  }

  private def byGradients(
      problem: LinearProblem,
      algorithm: GradientAlgorithm,
      use: RowUse,
      choice: OrientationChoice,
      started: Long,
      after: Option[Handover]): LinearSolution =
    if (problem.isBounded || !algorithm.averages && use == RowUse.Sums && rows.evenAsRead(problem.numWorkers)) {
      byQuasiNewton(problem, choice, started, after)
    } else onRows(problem, algorithm, use, choice, started, after)

  private def onRows(
      problem: LinearProblem,
      algorithm: GradientAlgorithm,
      use: RowUse,
      choice: OrientationChoice,
      started: Long,
      after: Option[Handover]): LinearSolution = {
    val form =
      RowForm(problem.penalty.scaleFactor, problem.intercept, problem.loss.labels, mixed = algorithm.averages, use)
    val data = rows.rows(problem.numWorkers, form)
    val placed = if (algorithm.averages) problem else problem.copy(aggregation = whereItHasRoom(problem))
    val plan = SgdPlan(newId, gradientTask(placed), PartitionFacts.of(rows, data), algorithm, after)
    run(plan, placed, parts(data), choice, started, gradientStep) { (_, attempt) =>
      free(Seq(plan.attemptId(attempt)))
    }
  }

  private def byQuasiNewton(
      problem: LinearProblem,
      choice: OrientationChoice,
      started: Long,
      after: Option[Handover]): LinearSolution = {
    val kin = family(problem, choice.orientation)
    // Without a proof a start near the optimum could end a fit at once.
    val isProven =
      problem.handsOver && problem.penalty.l2 > 0.0 && !problem.loss.curvature.isInfinite && !problem.isBounded
    val from =
      searches.get(kin).filter(_ => isProven && after.isEmpty).map(last => (last.coefficients, last.intercepts))
    val placed = problem.copy(aggregation = whereItHasRoom(problem), initial = problem.initial.orElse(from))
    val data = rows.blocks(problem.numWorkers)
    val plan = QuasiNewtonPlan(newId, gradientTask(placed), after)
    val solution = run(plan, placed, parts(data), choice, started, new SearchStep(passStep))((_, _) => ())
    if (isProven) searches(kin) = solution
    solution
  }

  private def gradientTask(problem: LinearProblem): SgdTask = {
    val features = rows.features(problem.penalty.scaleFactor, problem.intercept)
    val facts = RowFacts.of(rows, features, rows.labelFacts(problem.loss.labels))
    SgdTask(problem, rows.numFeatures, facts)
  }

  private def byNewton(problem: LinearProblem, choice: OrientationChoice, started: Long): LinearSolution = {
    val loss = problem.loss
    val data = rows.blocks(problem.numWorkers)
    val facts = NewtonFacts(rows.numRows, rows.centre, rows.constant, rows.labelFacts(loss.labels, counted = false))
    val last = newtons.get((loss, problem.intercept))
    val from = last.filter(_.first.isEmpty).map(kept => (kept.coefficients, kept.intercepts))
    val warm = problem.copy(initial = problem.initial.orElse(from))
    val plan = NewtonPlan(newId, NewtonTask(warm, loss, facts, last.flatMap(_.first), last.flatMap(_.scale)))
    val solution = run(plan, problem, parts(data), choice, started, passStep)((_, _) => ())
    newtons((loss, problem.intercept)) = solution
    solution.copy(first = None)
  }

  /**
   * Lets L-BFGS do what Spark's own code would do, and returns the better model. With a smooth loss it starts where Spark's does:
   * after a start near the optimum, its first corrections tell nothing of flat directions, in which it then has to go far, and
   * line searches fail.
   */
  private def handedOver(problem: LinearProblem, first: LinearSolution, choice: OrientationChoice): LinearSolution = {
    val started = System.nanoTime()
    val before = first.facts
    val done = before.rounds.last.round
    val rest = problem.copy(
      algorithm = Algorithm.LBFGS,
      initial =
        if (problem.loss.curvature.isInfinite) Some((first.coefficients, first.intercepts)) else problem.initial,
      // With a scale of the errors a pass is cheap, and the search ends where it gains no more.
      maxRounds = done + problem.maxRounds * (if (problem.loss.epsilon.isEmpty) 1 else MostOfScale))
    // Rows that were dealt to workers for coordinate descent serve as they are.
    val use = if (choice.orientation == Orientation.Dual) problem.algorithm.use else Algorithm.LBFGS.use
    val second =
      byGradients(rest, Algorithm.LBFGS, use, choice, started, after = Some(Handover(before.rounds, before.dual)))
    val after = second.facts
    val best = if (after.objective < before.objective) second else first
    val bounded =
      best.facts.copy(dual = Seq(before.dual, after.dual).filterNot(_.isNaN).maxOption.getOrElse(Double.NaN))
    val why =
      if (first.stalled && problem.loss.epsilon.nonEmpty) "few errors were within epsilon scales"
      else if (first.stalled) "features nearly explain one another"
      else if (done >= problem.maxRounds) s"maxIter = ${problem.maxRounds} rounds were done"
      else if (problem.algorithm == Algorithm.Newton) "no step lowered the objective"
      else "its rounds had become slow"
    best.copy(facts = bounded.copy(
      converged = after.converged || bounded.gap <= problem.tolerance * bounded.objective,
      algorithm = s"${before.algorithm}+${after.algorithm}",
      orientation = before.orientation,
      handover =
        f"l-bfgs went on after round $done, where $why and the relative gap was ${before.gap / before.objective}%.1e",
      restarts = before.restarts + after.restarts,
      rounds = after.rounds,
      setUpSeconds = before.setUpSeconds + after.setUpSeconds))
  }

  /** A gang is led by a task, which has to have room for the leader's vectors. */
  private def whereItHasRoom(problem: LinearProblem): Option[Aggregation] = {
    val bytes =
      if (problem.loss.epsilon.nonEmpty) SparkSearch.bytes(rows.numFeatures)
      else QuasiNewton.bytes(rows.numFeatures, problem.loss.outputs)
    val taskHasRoom = ExecutorMemory.ofSlot(rows.sc).forall(bytes <= _)
    problem.aggregation.orElse(if (taskHasRoom) None else Some(Aggregation.Shuffle))
  }

  private def free(fits: Seq[Long]): Unit = FitRunner.free(rows.sc, fits, NativeLibrary.free)

  private def newId: Long = UUID.randomUUID().getMostSignificantBits

  /** Runs a fit on its parts; `done` keeps or frees the worker states of its last attempt. */
  private def run[D: ClassTag, M: ClassTag, S: ClassTag](
      plan: FitPlan[M, S, LinearSolution],
      problem: LinearProblem,
      parts: Parts[D],
      choice: OrientationChoice,
      started: Long,
      step: Workers.Step[D, M, S])(done: (LinearSolution, Int) => Unit): LinearSolution = {
    val setUpSeconds = (System.nanoTime() - started) * 1e-9
    val runner =
      new FitRunner(rows.sc, parts.nonzeros.length, parts.all(), parts.forBarrier, plan, step, NativeLibrary.free)
    try {
      val outcome = runner.run()
      val trained = outcome.trained
      done(trained, outcome.attempt)
      val facts = outcome
        .tell(trained.facts)
        .copy(
          algorithm = problem.algorithm.name,
          orientation = if (problem.algorithm.ofRows) "" else choice.orientation.name,
          orientationReason = choice.reason + wrong(problem, trained.facts.rounds),
          tolerance = problem.tolerance,
          numRows = rows.numRows,
          numFeatures = rows.numFeatures,
          nonzeros = rows.nonzeros,
          nonzerosPerPartition = parts.nonzeros.toSeq,
          placement = parts.placement,
          held = parts.held,
          setUpSeconds = setUpSeconds)
      trained.copy(facts = facts)
    } catch {
      case e: Throwable =>
        runner.freeAll()
        throw e
    }
  }

  /** What the forecast has missed by a factor of three or more; empty otherwise. */
  private def wrong(problem: LinearProblem, rounds: Seq[RoundRecord]): String = {
    val seconds = rounds.map(r => r.driverSeconds + r.workers.map(w => w.seconds).sum).sum
    val missed =
      problem.forecast.exists(f => seconds > Missed * f && seconds > Noticed || f > Missed * seconds && f > Noticed)
    if (missed) f"; they were $seconds%.2g s" else ""
  }

  /** Frees what the fits have left with the workers, and the data. */
  override def close(): Unit =
    try free(previous.values.flatMap(_.fit).toSeq)
    finally {
      previous.clear()
      newtons.clear()
      searches.clear()
      rows.unpersist()
    }

  private def primal(problem: LinearProblem): Work = {
    val data = rows.columns(problem.numWorkers)
    def local(partitions: RDD[ColumnPartition]) = partitions.map[LocalData](p => ColumnData(p, p.weights))
    val parts =
      Parts(() => local(data.partitions), () => local(data.forBarrier), data.nonzerosPerPartition, ByColumns, data.held)
    val leader =
      PrimalPlan(rows.numRows.toInt, rows.totalWeight, rows.labelMean, data.columnsPerPartition)
    val from = problem.initial.map(_._1).orElse(previous.get(family(problem, Orientation.Primal)).map(_.coefficients))
    Work(parts, data.columnsPerPartition, leader, from.map(FromCoefficients))
  }

  private def dual(problem: LinearProblem): Work = {
    val data = rows.rows(
      problem.numWorkers,
      RowForm(problem.penalty.scaleFactor, problem.intercept, problem.loss.labels, use = problem.algorithm.use))
    val last = previous.get(family(problem, Orientation.Dual))
    val leader = DualPlan(
      data.summary,
      if (DualPlan.averages(problem, data.numPartitions)) data.holders else null,
      rows.numFeatures,
      rows.labelFacts(problem.loss.labels),
      last.map(p => p.intercept + meanMargin(data.summary.mean, p.coefficients)))
    // Dual variables times the ratio of the penalties keep the coefficients. A factor above 1 could leave their bounds.
    val from = last.flatMap(p => p.fit.map(fit => FromFits(Seq(fit), math.min(1.0, problem.penalty.l2 / p.l2))))
    Work(parts(data), data.summary.rowsPerPartition, leader, from)
  }

  private def parts(data: BlockDataset): Parts[BlockData] =
    Parts(() => data.partitions, () => data.forBarrier, data.nonzerosPerPartition, data.placement, data.held)

  private def parts(data: RowDataset): Parts[LocalData] = {
    val scale = data.scaleBroadcast
    def local(partitions: RDD[RowPartition]) =
      partitions.map[LocalData](p => RowData(p, if (scale == null) null else scale.value))
    Parts(
      () => local(data.partitions),
      () => local(data.forBarrier),
      data.nonzerosPerPartition,
      data.placement,
      data.held)
  }

  /**
   * mean^T coefficients, by which the intercept of centred features exceeds the intercept of uncentred ones; 0 without means.
   */
  private def meanMargin(mean: Array[Double], coefficients: Array[Double]): Double =
    if (mean == null) 0.0 else mean.indices.iterator.map(j => mean(j) * coefficients(j)).sum

  private def remember(problem: LinearProblem, orientation: Orientation, last: Previous): Unit =
    previous.put(family(problem, orientation), last).flatMap(_.fit).foreach(fit => free(Seq(fit)))
}

object LinearTrainer {

  /** By how much a forecast may be wrong, and seconds below which nobody asks. */
  private val Missed = 3.0
  private val Noticed = 0.3

  /** Whether the driver has room for the vectors of L-BFGS. */
  private[dwell] def hasRoom(loss: Loss, numFeatures: Int): Boolean =
    numFeatures.toLong * loss.outputs <= ResultHeader.MAX_ENTRIES &&
      QuasiNewton.hasRoom(numFeatures, loss.outputs, Runtime.getRuntime.maxMemory)

  /** The most iterations of the search that goes on with a loss that has a scale, in units of `maxIter`. */
  private val MostOfScale = 10

  /** Fits that may start from one another. */
  private final case class Family(
      loss: Loss,
      scaleFactor: Double,
      intercept: Boolean,
      orientation: Orientation,
      numWorkers: Int)

  /**
   * The last fit of a family.
   *
   * @param fit
   *   id under which the workers keep its dual variables; None if they do not
   */
  private final case class Previous(coefficients: Array[Double], intercept: Double, l2: Double, fit: Option[Long])

  /**
   * The data of each partition.
   *
   * @param forBarrier
   *   see [[dwell.fit.FitRunner]]
   * @param placement
   *   how they came to their partitions, and why
   */
  private final case class Parts[D](
      all: () => RDD[D],
      forBarrier: () => RDD[D],
      nonzeros: Array[Long],
      placement: String,
      held: HeldBytes)

  private val ByColumns = "nonzeros dealt by a shuffle, because each worker owns columns"

  /** A problem in the form of one orientation. */
  private final case class Work(
      parts: Parts[LocalData],
      coordinates: Array[Int],
      leaderPlan: CdLeaderPlan,
      from: Option[StartingPoint])

  private def family(problem: LinearProblem, orientation: Orientation): Family =
    Family(problem.loss, problem.penalty.scaleFactor, problem.intercept, orientation, problem.numWorkers)
}
