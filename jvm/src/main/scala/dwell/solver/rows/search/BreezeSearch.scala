package dwell.solver.rows.search

import breeze.linalg.{DenseVector => BDV, MatrixSingularException}
import breeze.optimize.{CachedDiffFunction, DiffFunction, FirstOrderMinimizer, LBFGS, LBFGSB}

/**
 * Breeze's L-BFGS, as Spark runs it. Where Breeze fails, for a matrix that it cannot invert or a step that it does not find, the search
 * ends, without convergence.
 *
 * @param evaluate
 *   objective and gradient
 */
private[solver] final class BreezeSearch private (search: BreezeSearch.Minimizer)(
    evaluate: Array[Double] => (Double, Array[Double])) {
  import BreezeSearch._

  /** The start, which is within the bounds, and the iterations up to the one at which the search ends. */
  def iterations(start: Array[Double]): Iterator[Point] = {
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

  private type Minimizer = FirstOrderMinimizer[BDV[Double], DiffFunction[BDV[Double]]]

  /** A search without bounds. */
  def free(maxIterations: Int, tolerance: Double)(evaluate: Array[Double] => (Double, Array[Double])): BreezeSearch =
    new BreezeSearch(new LBFGS[BDV[Double]](maxIterations, Memory, tolerance))(evaluate)

  /**
   * A search within bounds.
   *
   * @param lower
   *   least values
   * @param upper
   *   largest values
   */
  def within(lower: Array[Double], upper: Array[Double], maxIterations: Int, tolerance: Double)(
      evaluate: Array[Double] => (Double, Array[Double])): BreezeSearch =
    new BreezeSearch(new LBFGSB(BDV(lower), BDV(upper), maxIterations, Memory, tolerance))(evaluate)

  /** About the bytes of the vectors of a search without bounds: Breeze keeps ten corrections, and makes the others anew beside the old ones. */
  def bytes(variables: Long): Long = 384L * variables

  /** The same of a search within bounds, which keeps the corrections twice, and makes some of its matrices anew. */
  def bytesWithin(variables: Long): Long = 1024L * variables

  /** Number of corrections, as in Spark. */
  private val Memory = 10
}
