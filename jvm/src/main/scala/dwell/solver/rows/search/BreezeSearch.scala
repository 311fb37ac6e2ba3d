package dwell.solver.rows.search

import breeze.linalg.{DenseVector => BDV, MatrixSingularException}
import breeze.optimize.{CachedDiffFunction, DiffFunction, FirstOrderMinimizer, LBFGSB}

/**
 * Breeze's L-BFGS within bounds, as Spark runs it. Where Breeze fails, for a matrix that it cannot invert or a step that it does not find,
 * the search ends, without convergence.
 *
 * @param lower
 *   least values
 * @param upper
 *   largest values
 * @param evaluate
 *   objective and gradient
 */
private[rows] final class BreezeSearch(
    lower: Array[Double],
    upper: Array[Double],
    maxIterations: Int,
    tolerance: Double)(evaluate: Array[Double] => (Double, Array[Double])) {
  import BreezeSearch._

  /** The start, which is within the bounds, and the iterations up to the one at which the search ends. */
  def iterations(start: Array[Double]): Iterator[Point] = {
    val search = new LBFGSB(BDV(lower), BDV(upper), maxIterations, Memory, tolerance)
    val function = new CachedDiffFunction(new DiffFunction[BDV[Double]] {
      override def calculate(x: BDV[Double]): (Double, BDV[Double]) = {
        val (value, gradient) = evaluate(x.toArray)
        (value, BDV(gradient))
      }
    })
    val states = search.iterations(function, BDV(start))
    def next(): Option[search.State] =
      try if (states.hasNext) Some(states.next()) else None
      catch { case _: MatrixSingularException | _: AssertionError => None }
    Iterator.continually(next()).takeWhile(_.nonEmpty).flatten.map { state =>
      val end = search.convergenceCheck(state, state.convergenceInfo)
      Point(state.x.toArray, state.adjustedValue, end.exists(_ != FirstOrderMinimizer.MaxIterations))
    }
  }
}

private[solver] object BreezeSearch {

  /** A point of the search, and whether the search converges here. */
  final case class Point(x: Array[Double], value: Double, converged: Boolean)

  /** About the bytes of its vectors: Breeze keeps ten corrections twice, and makes some of its matrices anew beside the old ones. */
  def bytes(numFeatures: Int, outputs: Int): Long = 1024L * numFeatures * outputs

  /** Number of corrections, as in Spark. */
  private val Memory = 10
}
