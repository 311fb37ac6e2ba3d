package dwell.solver.rows.search

import breeze.linalg.{DenseVector => BDV, MatrixSingularException}
import breeze.optimize.{CachedDiffFunction, DiffFunction, FirstOrderMinimizer, LBFGSB}

/**
 * Breeze's L-BFGS within bounds as Spark runs it for the loss of Huber: all variables are free, but for the last one, which is positive.
 * Where Breeze fails, for a matrix that it cannot invert or a step that it does not find, the search ends, without convergence.
 *
 * @param evaluate
 *   objective and gradient
 */
private[rows] final class SparkSearch(maxIterations: Int, tolerance: Double)(
    evaluate: Array[Double] => (Double, Array[Double])) {
  import SparkSearch._

  /** The start, and the iterations up to the one at which the search ends. */
  def iterations(start: Array[Double]): Iterator[ProjectedSearch.Point] = {
    val lower, upper = BDV.fill(start.length)(Double.MaxValue)
    lower *= -1.0
    lower(start.length - 1) = Double.MinPositiveValue
    val search = new LBFGSB(lower, upper, maxIterations, Memory, tolerance)
    val function = new CachedDiffFunction(new DiffFunction[BDV[Double]] {
      override def calculate(x: BDV[Double]): (Double, BDV[Double]) = {
        val (value, gradient) = evaluate(x.toArray)
        (value, BDV(gradient))
      }
    })
    val states = search.iterations(function, BDV(start))
    def next(): Option[search.State] =
      try states.nextOption()
      catch { case _: MatrixSingularException | _: AssertionError => None }
    Iterator.continually(next()).takeWhile(_.nonEmpty).flatten.map { state =>
      val end = search.convergenceCheck(state, state.convergenceInfo)
      val isLast = end.exists(_ != FirstOrderMinimizer.MaxIterations)
      ProjectedSearch.Point(state.x.toArray, state.adjustedValue, state.adjustedGradient.toArray, Vector.empty, isLast)
    }
  }
}

private[solver] object SparkSearch {

  /** About the bytes of its vectors: Breeze keeps ten corrections twice, and makes some of its matrices anew beside the old ones. */
  def bytes(numFeatures: Int): Long = 1024L * numFeatures

  /** Number of corrections, as in Spark. */
  private val Memory = 10
}
