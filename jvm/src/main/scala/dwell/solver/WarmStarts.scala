package dwell.solver

import scala.collection.mutable

import dwell.problem.{Loss, Orientation}
import dwell.solver.cd.worker.{FromCoefficients, FromFits, StartingPoint}
import dwell.solver.linear.{FirstPass, LinearProblem, LinearSolution}

/**
 * What the fits on one set of rows leave to later ones. A fit starts from one of its family (same loss, scaling, intercept
 * and, in coordinate descent, orientation and number of workers), which is a feasible start for any penalty: the last one in coordinate
 * descent, otherwise the one whose penalty is nearest.
 *
 * @param kept
 *   models of fits, also on other rows of a search
 * @param free
 *   frees the states that the workers keep for a fit
 */
private[solver] final class WarmStarts(kept: KeptFits, free: Seq[Long] => Unit) {
  import WarmStarts._

  private val descents = mutable.Map.empty[Family, Descended]

  /** The first passes of Newton's method that serve any penalty, by loss and whether there is an intercept. */
  private val firsts = mutable.Map.empty[(Loss, Boolean), FirstPass]

  /** A fit by Newton's method. */
  def newton(problem: LinearProblem): Option[LinearSolution] = kept.nearest(newtonFamily(problem), problem.penalty)

  /** The first pass of a fit by Newton's method, where it is the same for all penalties. */
  def firstPass(problem: LinearProblem): Option[FirstPass] = firsts.get((problem.loss, problem.intercept))

  def keepNewton(problem: LinearProblem, solution: LinearSolution): Unit = {
    solution.first.foreach(firsts((problem.loss, problem.intercept)) = _)
    kept.keep(newtonFamily(problem), problem.penalty, solution)
  }

  /** The model of a fit by L-BFGS. Without a proof a start near the optimum could end a fit at once. */
  def search(problem: LinearProblem): Option[LinearSolution] =
    if (isProven(problem)) kept.nearest(family(problem, None), problem.penalty) else None

  def keepSearch(problem: LinearProblem, solution: LinearSolution): Unit =
    if (isProven(problem)) kept.keep(family(problem, None), problem.penalty, solution)

  /** The coefficients of the last descent in the primal orientation. */
  def primal(problem: LinearProblem): Option[StartingPoint] =
    problem.initial
      .map(_._1)
      .orElse(descents.get(family(problem, Some(Orientation.Primal))).map(_.coefficients))
      .map(FromCoefficients)

  /**
   * The dual variables of the last descent in the dual orientation, with coefficients and intercept of its model. Dual variables times the
   * ratio of the penalties keep the coefficients. A factor above 1 could leave their bounds.
   */
  def dual(problem: LinearProblem): (Option[StartingPoint], Option[(Array[Double], Double)]) = {
    val last = descents.get(family(problem, Some(Orientation.Dual)))
    val from = last.flatMap(p => p.fit.map(fit => FromFits(Seq(fit), math.min(1.0, problem.penalty.l2 / p.l2))))
    (from, last.map(p => (p.coefficients, p.intercept)))
  }

  /** Keeps a descent. The dual orientation needs the states of `fit`, the primal one the model. */
  def keepDescent(problem: LinearProblem, orientation: Orientation, solution: LinearSolution, fit: Long): Unit = {
    val kept = if (orientation == Orientation.Dual) Some(fit) else None
    if (kept.isEmpty) free(Seq(fit))
    val last = Descended(solution.coefficients, solution.intercept, problem.penalty.l2, kept)
    descents.put(family(problem, Some(orientation)), last).flatMap(_.fit).foreach(fit => free(Seq(fit)))
  }

  /** Frees what the fits have left with the workers. */
  def close(): Unit =
    try free(descents.values.flatMap(_.fit).toSeq)
    finally {
      descents.clear()
      firsts.clear()
    }
}

private object WarmStarts {

  /** Fits that may start from one another. */
  private final case class Family(
      loss: Loss,
      scaleFactor: Double,
      intercept: Boolean,
      orientation: Option[Orientation],
      numWorkers: Int)

  /**
   * The last descent of a family.
   *
   * @param fit
   *   id under which the workers keep its dual variables; None if they do not
   */
  private final case class Descended(coefficients: Array[Double], intercept: Double, l2: Double, fit: Option[Long])

  private def newtonFamily(problem: LinearProblem): Any = (problem.loss, problem.intercept)

  private def family(problem: LinearProblem, orientation: Option[Orientation]): Family =
    Family(problem.loss, problem.penalty.scaleFactor, problem.intercept, orientation, problem.numWorkers)

  private def isProven(problem: LinearProblem): Boolean =
    problem.isAuto && problem.penalty.l2 > 0.0 && !problem.loss.curvature.isInfinite && !problem.isBounded
}
