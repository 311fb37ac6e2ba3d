package dwell.solver

import scala.collection.mutable

import dwell.problem.Penalty
import dwell.solver.linear.LinearSolution

/**
 * Models that later fits may start from: of the fits on one set of rows or, in a search, on all training sets. Those of another training set
 * with the same penalty are nearer than those of the same rows with another one. Beyond a bound of their numbers the oldest go.
 */
final class KeptFits {
  import KeptFits._

  private val kept = mutable.ArrayBuffer.empty[KeptFit]

  /** The model of a family whose penalty is nearest; of several the last one. */
  private[solver] def nearest(family: Any, penalty: Penalty): Option[LinearSolution] =
    kept.reverseIterator
      .filter(_.family == family)
      .reduceOption { (a, b) =>
        if (distance(b.penalty, penalty) < distance(a.penalty, penalty)) b else a
      }
      .map(_.solution)

  /** Keeps a model. */
  private[solver] def keep(family: Any, penalty: Penalty, solution: LinearSolution): Unit = {
    kept += KeptFit(family, penalty, solution.copy(first = None, inverseDiagonal = None))
    while (kept.size > 1 && kept.map(_.solution.coefficients.length.toLong).sum > MostNumbers) kept.remove(0)
  }

}

private object KeptFits {

  private final case class KeptFit(family: Any, penalty: Penalty, solution: LinearSolution)

  private def distance(a: Penalty, b: Penalty): Double = ratio(a.l1, b.l1) + ratio(a.l2, b.l2)

  private def ratio(a: Double, b: Double): Double = math.abs(math.log((a + Smallest) / (b + Smallest)))

  /** Penalties below it are none. */
  private val Smallest = 1e-12

  private val MostNumbers = 1L << 22
}
