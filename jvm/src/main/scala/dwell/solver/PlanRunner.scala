package dwell.solver

import scala.reflect.ClassTag

import org.apache.spark.ExecutorMemory

import dwell.comm.Workers
import dwell.data.TrainingRows
import dwell.fit.{Aggregation, FitPlan, FitRunner}
import dwell.record.{FitFacts, RoundRecord}
import dwell.solver.choice.Choice
import dwell.solver.linear.{LinearProblem, LinearSolution}
import dwell.spark.NativeLibrary

/** Runs planned fits, and reports how each was trained, and on what. */
private[solver] final class PlanRunner(rows: TrainingRows) {
  import PlanRunner._

  /**
   * Runs the fit of a linear model on its parts.
   *
   * @param started
   *   when its preparation has begun
   * @param done
   *   keeps or frees the worker states of its last attempt
   */
  def apply[D: ClassTag, M: ClassTag, S: ClassTag](
      plan: FitPlan[M, S, LinearSolution],
      problem: LinearProblem,
      choice: Choice,
      parts: Parts[D],
      started: Long,
      step: Workers.Step[D, M, S])(done: (LinearSolution, Long) => Unit): LinearSolution = {
    val (trained, facts) = told(plan, parts, started, step)(_.facts)(done)
    trained.copy(facts = facts.copy(
      algorithm = choice.method.algorithm.name,
      orientation = choice.method.orientation.fold("")(_.name),
      orientationReason = choice.reason + wrong(choice, facts.rounds),
      tolerance = problem.tolerance))
  }

  /**
   * The same for any fit: its solution, and its facts with those of the data and of the exchange.
   *
   * @param known
   *   the facts that a solution has
   */
  def told[D: ClassTag, M: ClassTag, S: ClassTag, T](
      plan: FitPlan[M, S, T],
      parts: Parts[D],
      started: Long,
      step: Workers.Step[D, M, S])(known: T => FitFacts)(done: (T, Long) => Unit): (T, FitFacts) = {
    val setUpSeconds = (System.nanoTime() - started) * 1e-9
    val runner =
      new FitRunner(rows.sc, parts.nonzeros.length, parts.all(), parts.forBarrier, plan, step, NativeLibrary.free)
    try {
      val outcome = runner.run()
      val trained = outcome.trained
      done(trained, plan.attemptId(outcome.attempt))
      val facts = outcome
        .tell(known(trained))
        .copy(
          numRows = rows.numRows,
          numFeatures = rows.numFeatures,
          nonzeros = rows.nonzeros,
          nonzerosPerPartition = parts.nonzeros.toSeq,
          placement = parts.placement,
          held = parts.held,
          setUpSeconds = setUpSeconds)
      (trained, facts)
    } catch {
      case e: Throwable =>
        runner.freeAll()
        throw e
    }
  }

  /**
   * How updates travel. A gang is led by a task, which has to have room for the leader's vectors.
   *
   * @param asked
   *   for by the user
   * @param bytes
   *   of the leader's vectors
   */
  def withRoom(asked: Option[Aggregation], bytes: Long): Option[Aggregation] = {
    val taskHasRoom = ExecutorMemory.ofSlot(rows.sc).forall(bytes <= _)
    asked.orElse(if (taskHasRoom) None else Some(Aggregation.Shuffle))
  }
}

private object PlanRunner {

  /** By how much a forecast may be wrong, and seconds below which nobody asks. */
  private val Missed = 3.0
  private val Noticed = 0.3

  /** What the forecast has missed by a factor of three or more; empty otherwise. */
  private def wrong(choice: Choice, rounds: Seq[RoundRecord]): String = {
    val seconds = rounds.map(r => r.driverSeconds + r.workers.map(w => w.seconds).sum).sum
    val missed =
      choice.forecast.exists(f => seconds > Missed * f && seconds > Noticed || f > Missed * seconds && f > Noticed)
    if (missed) f"; they were $seconds%.2g s" else ""
  }
}
